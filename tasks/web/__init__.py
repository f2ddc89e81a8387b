"""Fetch cited pages from the open web safely and politely, detect walls, and extract text.

Pure: may import extraction, models and the ground. Writes no table.
"""
