"""Backups of a warehouse with its pages and report files, and their restoration.

Application. Writes every table, when it restores.
"""
