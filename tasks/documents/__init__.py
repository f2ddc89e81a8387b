"""Report files in any format, read into Markdown."""
