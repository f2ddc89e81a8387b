"""The published protocols: they judge cases and compute figures from the verdicts.

The package is pure: it may import judges, extraction, metrics and the ground, and writes no table.
No protocol imports another.
"""
