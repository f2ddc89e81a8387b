"""What flows run on: the local Prefect server, its history, recovery, fan-out, progress, artifacts.

May import `display` and everything in `tasks` but stages. Writes no table.
"""
