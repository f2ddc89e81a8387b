"""One form of citations for whatever agents write: `[n]` in the text, a list at its end.

Pure. Writes no table.
"""
