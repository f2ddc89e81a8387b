"""Claim discovery: are the claims that answer a question the true ones?

Pure. Writes no table.
"""
