"""Cited pages from the open web: fetched within bounds, guarded, told from walls, read.

Pure: may import extraction, models and the ground. Writes no table.
"""
