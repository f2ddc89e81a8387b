"""A search engine over archived pages for agents: an index, and a server that bans the answers.

Pure: reads snapshots, not the warehouse; may import protocols, web and the packages
below them. Writes no table.
"""
