"""Statistics over verdicts: aggregates, intervals, ranks, agreement, style. Numbers in, numbers
out.

Pure, without any input or output. Writes no table.
"""
