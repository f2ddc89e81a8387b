"""What every server of ours does first: it checks each request, and bounds its connections.

Ground. Writes no table.
"""
