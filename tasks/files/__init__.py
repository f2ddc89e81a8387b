"""Files that others have put into a folder: opened so that no link leads out of it.

Ground. Imports only the standard library. Writes no table.
"""
