"""The judge that is a model: prompts, requests, and what becomes of the answers.

Pure: asks through whatever it is given. Writes no table.
"""
