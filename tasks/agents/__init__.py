"""Clients that get reports from agents, one for each kind, and the common form of their answers.

Pure: may import extraction, judges' texts, models and the ground. Writes no table.
"""
