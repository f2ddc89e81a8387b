"""Statistics over verdicts: aggregates, intervals, ranks, agreement, style.

The package is pure: it maps numbers to numbers, does no I/O and writes no table.
"""
