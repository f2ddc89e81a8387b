"""A baseline agent without a model: it searches the edition's archive or the sandbox and quotes.

It is a separate program (`python -m tasks.agents.baseline`), run like any agent. Writes no table.
"""
