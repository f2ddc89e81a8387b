"""Conversion of all agents' citations to one form: `[n]` in the text and a list at its end.

Pure. Writes no table.
"""
