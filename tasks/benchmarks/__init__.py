"""Readers of published benchmarks, which turn files in their publishers' layouts into our rows.

Pure: may import extraction, judges, metrics and the ground. Writes no table.
"""
