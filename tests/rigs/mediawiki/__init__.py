"""A real MediaWiki with pages of our choosing: Debian's package over SQLite, no Apache."""
