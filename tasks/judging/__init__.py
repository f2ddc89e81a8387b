"""Cells, and what judging one needs: its inputs, its case, a session with its judge.

Application. Writes `calls` and `batch_jobs`, through the judge's session.
"""
