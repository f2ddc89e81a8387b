"""DeepResearchGym: key points, citations and quality of reports on research queries.

Pure. Writes no table.
"""
