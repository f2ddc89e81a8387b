"""Report files in any format (PDF, DOCX, HTML, pictures), read into Markdown.

Pure: may import wikipedia's tables and the ground. Writes no table.
"""
