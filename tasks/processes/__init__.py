"""Work in helper processes: a pool, and functions with bounds of time and memory.

Ground. Writes no table.
"""
