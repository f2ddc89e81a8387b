"""The pages people look at: content in, static files out.

Pure: may import extraction and the ground. Writes no table.
"""
