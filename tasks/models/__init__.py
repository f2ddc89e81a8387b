"""Calls to models: one gateway with limits, retries, budgets and batches; a client per API.

Pure: the ledger is passed in. Writes no table.
"""
