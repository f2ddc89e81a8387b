"""Analyses of verdicts and scores: difficulty, trends, comparisons, single reports.

Application: reads the warehouse. Writes no table.
"""
