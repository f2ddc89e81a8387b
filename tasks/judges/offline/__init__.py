"""The offline judge: lexical evidence and a few fitted weights. No model, no network.

Pure. Writes no table.
"""
