"""Editions: checks of their names, manifests, prompts, finding their reports, and the settings of
the monthly ones.

Application. Writes `assignments`.
"""
