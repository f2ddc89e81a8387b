"""`evergreen doctor`: a module for each area that can go wrong, and what to do about it.

Application: may import everything but flows. Writes no table.
"""
