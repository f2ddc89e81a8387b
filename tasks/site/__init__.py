"""Render the site's static pages from their content.

Pure: may import extraction and the packages below. Writes no table.
"""
