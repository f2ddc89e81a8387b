"""Turn articles into questions (LiveDRBench's problem inversion): steps, checks, probes.

The package is pure: it may import extraction, judges, metrics and the ground, and writes no table.
"""
