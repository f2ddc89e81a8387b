"""Rubrics drafted by a model from an article, checked, and reviewed by people.

Application. Writes no table: the stage `drafts` writes files, `imports` brings them in.
"""
