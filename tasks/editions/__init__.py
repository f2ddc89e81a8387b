"""Editions: checks of their names, manifests, prompts, and finding their reports.

Application. Writes `assignments`.
"""
