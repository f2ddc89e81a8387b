"""Clients that get reports from agents, and the common form of their answers.

`kinds` has a module for each kind, which `registry` lists, together with the agents of
`configs/agents.yaml`; `wire` is what kinds share, `command` and `isolation` are for programs.

Pure: may import extraction, judges' texts, models and the ground. Writes no table.
"""
