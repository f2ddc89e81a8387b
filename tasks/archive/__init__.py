"""The archive of cited pages: fetch each once, read its text, and export both.

Application: fetches with `web`. Writes `fetches` and `pages`.
"""
