"""The forms in which models answer: a pydantic model for each decision, parsed strictly.

Pure. Writes no table.
"""
