"""The sandbox in which a participant's program runs: what it may read, write and reach.

It imports nothing else of the project: `launcher` is a process of its own, and `relay` runs in
threads of the supervisor; both start once per program. No table.
"""
