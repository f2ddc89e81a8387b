"""What every server of ours checks before anything else handles a request.

Ground. Writes no table.
"""
