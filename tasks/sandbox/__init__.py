"""A search engine over archived pages, for agents: an index, and a server without the answers.

Pure: reads snapshots, not the warehouse; may import protocols, web and what lies below. Writes
no table.
"""
