"""Collect new Good Articles of a wiki: list, date, measure, choose and freeze them.

Application: requests with `wikipedia`. Writes `collections`, `candidates`, `editions`, `articles`,
`article_revisions` and `article_links`.
"""
