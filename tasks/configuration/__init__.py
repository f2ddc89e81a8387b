"""Configuration: the files in `configs/`, strictly validated, and keys from the environment.

Ground: may import `base` and `errors`. Writes no table.
"""
