"""The sandbox in which a participant's program runs: what it may read, write and reach.

Pure. `launcher` and `relay` are processes of their own and import nothing else of the project. No
table.
"""
