"""Rigorous Bench: rubrics, keywords and sources of a report make one integrated score.

Pure. Writes no table.
"""
