"""How answers look in the terminal: tables, explanations, plans, and the console itself.

May import anything of `tasks` that only reads. Writes no table.
"""
