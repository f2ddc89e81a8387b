"""New Good Articles of a wiki: listed, dated, measured, chosen, frozen.

Application: asks by `wikipedia`. Writes `collections`, `candidates`, `editions`, `articles`,
`article_revisions` and `article_links`.
"""
