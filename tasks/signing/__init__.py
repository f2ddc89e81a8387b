"""Keys and signatures in minisign's format, which Debian's `minisign -V` verifies.

Pure, but for the files of keys: bytes in, signatures out. Writes no table.
"""
