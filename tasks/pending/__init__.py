"""Find what is pending, one module for each stage's table.

Application. Writes no table.
"""
