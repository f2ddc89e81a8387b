"""Agents' jobs: asked once, taken up again, and their answers as reports.

Application: asks by `agents`. Writes `jobs`, `reports`, `agents`, `search_traces` and
`collection_costs`.
"""
