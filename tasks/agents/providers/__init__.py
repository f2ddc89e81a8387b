"""Agents behind a provider's API, a module for each API.

Pure: may import the clients in `tasks.agents`. Writes no table.
"""
