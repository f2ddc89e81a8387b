"""Who extracted an edition's facts and claims."""

from collections.abc import Mapping
from types import MappingProxyType

from tasks.warehouse.store import Readable

EXTRACTORS = """
SELECT agent = '' AS of_articles, source, extractor_version, count(*) AS n,
    list(DISTINCT agent ORDER BY agent) AS agents
FROM extractions WHERE edition = $1 GROUP BY ALL ORDER BY n DESC, source, extractor_version
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
    return " ".join(said)


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
