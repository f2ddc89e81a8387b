"""Read report files (PDF, DOCX, HTML, pictures, text) into Markdown.

Pure: may import wikipedia's tables and the ground. Writes no table.
"""
