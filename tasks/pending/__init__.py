"""What is left to do: a module for each stage's table, read from the warehouse.

Application. Writes no table.
"""
