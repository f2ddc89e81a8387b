"""Wiki Fact: coverage of a reference article, conflicts with it, and whether citations hold.

Pure. Writes no table.
"""
