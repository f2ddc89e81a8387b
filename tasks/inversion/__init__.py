"""Questions out of articles (LiveDRBench's problem inversion): steps, checks, probes.

Pure: may import extraction, judges, metrics and the ground. Writes no table.
"""
