"""What others made, brought in: published editions, queries, questions, reports, drafts.

Application: parses by `benchmarks` and `documents`. Writes all tables of an edition.
"""
