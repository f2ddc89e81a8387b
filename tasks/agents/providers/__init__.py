"""Clients of agents behind a provider's API, one module for each API.

Pure: may import the clients in `tasks.agents`. Writes no table.
"""
