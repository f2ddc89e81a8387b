"""Agents that are programs on this machine: started, watched, and their answer read.

Pure. `supervise` runs beside each program and imports nothing else of the project. No table.
"""
