"""What was spent, and on what: the ledger of calls, budgets, runs, tokens.

Application. Writes `calls`.
"""
