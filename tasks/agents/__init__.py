"""How a report is got out of an agent: one client for each kind, and the form of its answer.

Pure: may import extraction, judges' texts, models and the ground. Writes no table.
"""
