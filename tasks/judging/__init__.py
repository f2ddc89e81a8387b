"""Plan cells, load their inputs and open sessions with judges.

Application. Writes `calls` and `batch_jobs`, through the judge's session.
"""
