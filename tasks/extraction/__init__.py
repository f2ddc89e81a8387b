"""Extraction of claims, facts, citations and sentences from texts without a model.

The package is pure: it may import judges, metrics and the ground, and writes no table.
"""
