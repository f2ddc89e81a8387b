"""The `evergreen` command: a module for each group of commands, listed in `commands`.

May import everything. Writes no table but by a flow, an import or an annotation it calls.
"""
