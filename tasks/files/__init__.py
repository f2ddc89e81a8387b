"""Files and folders: opened so that no link leads out of them, locked, measured, checksummed.

Ground. Imports `errors` and libraries. Writes no table.
"""
