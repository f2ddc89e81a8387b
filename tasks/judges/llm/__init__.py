"""The LLM judge: prompts, requests to the model, and how its answers become verdicts.

Pure: the sender of requests is passed in. Writes no table.
"""
