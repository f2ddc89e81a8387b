"""Agents' jobs: send each request once, resume interrupted ones, write the reports.

Application; sends requests through `agents`. Writes `jobs`, `reports`, `agents`,
`search_traces` and `collection_costs`.
"""
