"""The `evergreen` command: a module for each group of commands, listed in `commands`.

May import everything. Writes tables only through flows, imports and annotations.
"""
