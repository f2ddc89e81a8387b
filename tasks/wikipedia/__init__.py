"""Read a wiki: find new good articles, convert them to Markdown, and extract their references.

Pure: may import extraction, models and the ground. Writes no table.
"""
