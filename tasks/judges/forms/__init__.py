"""The reply forms of models: a pydantic model per decision, parsed strictly.

Pure. Writes no table.
"""
