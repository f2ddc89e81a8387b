"""What can be read from verdicts and scores: costs, difficulty, trends, comparisons, one report.

Application: reads the warehouse. Writes no table.
"""
