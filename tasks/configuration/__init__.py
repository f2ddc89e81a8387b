"""The files in `configs/`, parsed once, strictly, into frozen values; and keys from outside.

Ground: may import `base` and `errors`. Writes no table.
"""
