"""Readers of published benchmarks: files in their publishers' layouts, as our rows.

Pure: may import extraction, judges, metrics and the ground. Writes no table.
"""
