"""Backups of a warehouse with its pages and report files, and their restoration.

Application. Restoring writes every table.
"""
