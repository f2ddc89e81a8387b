"""Drafting of rubrics from articles by a model, with checks and a review by people.

Application. Writes no table: the stage `drafts` writes files, `imports` imports them.
"""
