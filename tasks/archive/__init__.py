"""Every cited page, fetched once: which are fetched, read, and exported.

Application: fetches by `web`. Writes `fetches` and `pages`.
"""
