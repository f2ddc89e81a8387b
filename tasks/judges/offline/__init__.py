"""The offline judge: lexical features with fitted weights. No model, no network.

Pure. Writes no table.
"""
