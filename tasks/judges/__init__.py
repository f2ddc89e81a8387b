"""Who decides: the decisions there are, the judges by name, and texts as judges read them.

Pure: may import models, metrics and the ground. Writes no table.
"""
