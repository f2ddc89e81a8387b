"""The kinds of agents, a module for each: settings, client, and the reading of its answers.

Pure: may import `tasks.agents.kind`, what kinds share in `tasks.agents.wire`, and models. Writes no
table.
"""
