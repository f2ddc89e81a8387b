"""Who extracted an edition's facts and claims, and where a list of them is empty without reason."""

import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import polars as pl

from tasks.base import format_count
from tasks.judges.registry import OFFLINE
from tasks.protocols.registry import available_protocols
from tasks.warehouse.store import Readable

EXTRACTORS = """
SELECT agent = '' AS of_articles, source, extractor_version, count(*) AS n,
    list(DISTINCT agent ORDER BY agent) AS agents
FROM extractions WHERE edition = $1 GROUP BY ALL ORDER BY n DESC, source, extractor_version
"""
OLDER = """
SELECT agent, count(*) FROM extractions
WHERE edition = $1 AND source = 'offline' AND extractor_version <> $2 GROUP BY ALL ORDER BY ALL
"""
EMPTY = """
SELECT r.agent, r.assignment, coalesce(a.kind, 'write_article') AS kind,
    if(x.agent = '', 'facts', 'claims') AS what, CASE WHEN x.source = 'published'
    THEN 'as published' ELSE if(x.n_offline IS NULL, 'asked once', 'asked twice') END AS asked,
    x.n_offline, coalesce(a.query, t.title, '') AS title, if(x.agent = '', t.text, r.text) AS text
FROM extractions AS x
JOIN reports AS r ON r.edition = x.edition AND r.assignment = x.assignment
    AND x.agent IN ('', r.agent) AND r.text <> ''
LEFT JOIN assignments AS a ON a.edition = x.edition AND a.assignment = x.assignment
LEFT JOIN articles AS t ON t.edition = x.edition AND t.article = a.article
WHERE x.edition = $1 AND x.n_items = 0 AND x.source <> 'offline' AND ($2 IS NULL OR r.agent = $2)
ORDER BY ALL
"""
MAX_NAMED = 3
"""Agents named per extractor; the others are counted."""


def describe_extractors(
    source: Readable, edition: str, names: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Name the extractors of an edition's facts and of its claims, and say if there are several;
    empty while nothing is extracted.

    names: agent → display name; the agent's id if it has none.
    """
    rows = source.frame(EXTRACTORS, [edition]).rows(named=True)
    facts = [row for row in rows if row["of_articles"]]
    claims = [row for row in rows if not row["of_articles"]]
    said = [
        f"{title}: {'; '.join(_describe(row, names, several=len(found) > 1) for row in found)}."
        for title, found in (("Facts", facts), ("Claims", claims))
        if found
    ]
    mixed = [name for name, found in (("facts", facts), ("claims", claims)) if len(found) > 1]
    if mixed:
        said.append(
            f"Several extractors made the {' and the '.join(mixed)}, so figures that rest on them "
            "do not compare like with like."
        )
    return " ".join([*said, *describe_older(source, edition)])


def describe_older(source: Readable, edition: str) -> Iterator[str]:
    """Say how many texts an earlier offline extractor than today's has read, if any, and end with
    the command that has it read them anew."""
    from tasks.extraction.claims import EXTRACTOR_VERSION  # slow

    older = dict(source.frame(OLDER, [edition, EXTRACTOR_VERSION]).iter_rows())
    if older:
        command = ["evergreen", "evaluate", "--edition", edition, "--extractor", OFFLINE]
        command += ["--extract-again", *(f"--agent={agent}" for agent in older if agent)]
        yield (
            f"An earlier offline extractor than today's ({EXTRACTOR_VERSION}) read "
            f"{format_count(sum(older.values()), 'text')}. To read them anew: {shlex.join(command)}"
        )


def _describe(row: dict[str, object], names: Mapping[str, str], *, several: bool) -> str:
    named = {
        "published": "published with the edition",
        "offline": f"extracted offline ({row['extractor_version']})",
        "judge": f"extracted by the judge {row['extractor_version']}",
    }[str(row["source"])]
    if not several:
        return named
    if row["of_articles"]:
        return f"{named} (articles: {row['n']})"
    agents = row["agents"]
    assert isinstance(agents, list)
    others = f" and {len(agents) - MAX_NAMED} more" if len(agents) > MAX_NAMED else ""
    first = ", ".join(names.get(agent, agent) for agent in agents[:MAX_NAMED])
    return f"{named}: reports of {first}{others} ({row['n']})"


def find_empty_lists(source: Readable, edition: str, agent: str | None = None) -> pl.DataFrame:
    """Return the empty lists behind an edition's reports where the offline extractor finds some."""
    from tasks.extraction.claims import DOUBTED  # slow, and `status` needs only the names

    rows = source.frame(EMPTY, [edition, agent])
    texts = rows.select("n_offline", "what", "title", "text").iter_rows()
    found = [_count_offline(*text) if n is None else n for n, *text in texts]
    rows = rows.drop("title", "text").with_columns(n_offline=pl.Series(found, dtype=pl.Int64))
    said = pl.format("no {} ({}); the offline extractor finds {}", "what", "asked", "n_offline")
    return rows.filter(pl.col("n_offline") >= DOUBTED).with_columns(said=said)


@lru_cache(maxsize=256)
def _count_offline(what: str, title: str, text: str) -> int:
    from tasks.extraction.claims import extract_claims
    from tasks.extraction.facts import extract_facts

    return len((extract_claims if what == "claims" else extract_facts)(title, text))


def count_empty_lists(source: Readable, edition: str, board: pl.DataFrame) -> pl.DataFrame:
    """Return a leaderboard's rows with `n_empty_lists`, the number that each figure rests on."""
    lists = find_empty_lists(source, edition).select("agent", "kind", "what").rows_by_key("agent")
    protocols = available_protocols(board["protocol"]) if lists else {}
    counts = [
        sum(
            what in protocols[name].inputs
            and kind in protocols[name].kinds
            and not metric.startswith(protocols[name].metrics_without.get(what, ()))
            for kind, what in lists[agent]
        )
        if name in protocols
        else 0
        for agent, name, metric in board.select("agent", "protocol", "metric").iter_rows()
    ]
    return board.with_columns(n_empty_lists=pl.Series(counts, dtype=pl.Int64))
