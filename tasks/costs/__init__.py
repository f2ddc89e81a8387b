"""Costs: the ledger of calls, budgets, and what runs, reports and judging cost.

Application. Writes `calls`.
"""
