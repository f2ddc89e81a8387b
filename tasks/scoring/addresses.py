"""The addresses that reports cite, and what is known of them. No verdict depends on it: it is read
only when reports are scored."""

import polars as pl

from tasks.warehouse.store import Readable

ADDRESSES = """
SELECT DISTINCT z.assignment, z.url, p.state
FROM citations AS z
JOIN extractions AS x USING (edition, agent, assignment)
JOIN page_states AS p ON p.edition = z.edition AND p.url = z.url
WHERE z.edition = $1 AND z.agent = $2 AND x.pairs_reliable
ORDER BY ALL
"""
ASKED = """
SELECT count(*) FROM absent_pages
WHERE edition = $1
    AND (state <> 'unknown' OR json_extract(evidence, '$.holdings') IS NOT NULL)
"""
"""The addresses about which an archive has answered; others only wait for it."""
OUTDATED = f"""
WITH now AS (
    SELECT assignment,
        count(*) FILTER (state = 'never_existed') AS never,
        count(*) FILTER (state NOT IN ('open', 'missing')) AS known
    FROM ({ADDRESSES}) WHERE ({ASKED}) > 0 GROUP BY ALL
)
SELECT count(*) FROM scores AS s LEFT JOIN now AS n USING (assignment)
WHERE s.edition = $1 AND s.agent = $2 AND s.protocol = $3 AND s.judge = $4
    AND s.metric = 'never_existed' AND s.state = 'done'
    AND (coalesce(s.numerator, 0), s.n_items) <> (coalesce(n.never, 0), coalesce(n.known, 0))
"""


def load_addresses(source: Readable, edition: str, agent: str) -> pl.DataFrame | None:
    """Return the different addresses of an agent's reports with their states, without reports whose
    pairs are unreliable; None if no archive was asked about addresses that are gone."""
    if not source.frame(ASKED, [edition]).item():
        return None
    names = ("assignment", "url", "state")
    return source.frame(ADDRESSES, [edition, agent]).cast(dict.fromkeys(names, pl.String))


def has_news_of_addresses(
    source: Readable, edition: str, agent: str, protocol: str, judge: str
) -> bool:
    """Whether something else is known of an agent's addresses than its scores say."""
    if protocol != "wiki_fact":  # no other counts them
        return False
    return bool(source.frame(OUTDATED, [edition, agent, protocol, judge]).item())
