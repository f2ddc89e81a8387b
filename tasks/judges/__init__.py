"""Judges: the decisions they make, the judges by name, and how they read texts.

Pure: may import models, metrics and the ground. Writes no table.
"""
