"""Terminal output: tables, explanations, plans, and the consoles.

May import anything of `tasks` that only reads. Writes no table.
"""
