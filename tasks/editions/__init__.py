"""Editions by name: their manifests, prompts, and the names of their reports.

Application. Writes `assignments`.
"""
