"""Imports of published editions, queries and questions, and of answers, reports and drafts.

Application: parses with `benchmarks` and `documents`. Writes all tables of an edition.
"""
