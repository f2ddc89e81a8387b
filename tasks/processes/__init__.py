"""Helper processes: a pool, and single calls with limits on time and memory.

Ground. Writes no table.
"""
