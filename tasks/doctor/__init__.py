"""The checks of `evergreen doctor`, one module per area, each with advice.

Application: may import everything but flows. Writes no table.
"""
