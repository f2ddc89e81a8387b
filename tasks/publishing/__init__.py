"""The site's content, read from the warehouse: a module for each kind of page and download.

Application: renders by `site`. Writes no table.
"""
