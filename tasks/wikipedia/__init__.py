"""Reading a wiki: which good articles are new, what they say, what they rest on.

Pure: may import extraction, models and the ground. Writes no table.
"""
