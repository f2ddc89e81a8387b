"""Attacks: one test for each promise of SECURITY.md, which fails when its guard is taken out.

The docstring of a test is the promise; the docstring of its file says against whom it holds.
"""
