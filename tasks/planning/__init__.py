"""Plan a month or an evaluation and estimate its costs before it runs.

Application. Writes no table.
"""
