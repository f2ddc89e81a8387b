"""The site's content, read from the warehouse: one module per kind of page or download.

Application: renders by `site`. Writes no table.
"""
