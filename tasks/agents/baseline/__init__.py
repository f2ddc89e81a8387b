"""A baseline agent that searches the edition's archive or the sandbox and quotes: no model.

A program of its own (`python -m tasks.agents.baseline`), run like any participant's. No table.
"""
