"""What a month or an evaluation would do and cost, before it does anything.

Application. Writes no table.
"""
