"""Costs: the ledger of calls, and what reports and judging cost.

Application. Writes `calls`.
"""
