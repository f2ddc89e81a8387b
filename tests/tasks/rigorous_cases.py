"""Reports under Rigorous Bench: a rubric, keywords and links, made here or as published."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.benchmarks.research import PublishedItem, PublishedQuery
from tasks.benchmarks.rigorous import GENERAL, PROTOCOL, QUERY
from tasks.protocols.case import Case, ReportUsage
from tasks.warehouse.rows import Citation, content_sha
from tasks.warehouse.rubrics import ALLOWED_VALUES, BundleSettings, Rubric, make_rubric_bundle
from tasks.warehouse.traces import TRACE, SearchStep, SearchTrace
from tests.tasks.protocols.framed import report

PUBLISHED = Path(__file__).resolve().parents[3] / "shared/data/rigorous/entries.json"


def item(name: str, points: int, text: str = "") -> PublishedItem:
    return PublishedItem(
        item=name, dimension=name.partition("-")[0], text=text or f"Does it say {name}?",
        allowed=(str(points), "0"), points=points,
    )  # fmt: skip


ITEMS = (item("query-1", 20), item("query-2", 10), item("general-1", 50), item("general-2", 23))
SETTINGS = BundleSettings(
    theme="07",
    focus_keywords=("NewReno", "0-RTT"),
    deviation_keywords=("SPDY",),
    trusted_links=("https://www.rfc.org/rfc1/", "https://rfc.org/rfc2?x=1#y"),
)


def query(key: str = "x", **changed: Any) -> PublishedQuery:
    return PublishedQuery(
        **{"key": key, "query": "How?", "items": ITEMS, "settings": SETTINGS} | changed
    )


def case(
    of: PublishedQuery | None = None,
    text: str = "",
    *,
    cited: Sequence[str] = (),
    opened: Sequence[str] | None = None,
    usage: ReportUsage | None = None,
) -> Case:
    """A report for one query. cited: addresses that only its claims' citations hold."""
    asked = of or query()
    key = {"edition": "e", "assignment": asked.key}
    rubric = tuple(
        Rubric(
            **key, protocol=PROTOCOL, number=n, item=i.item, dimension=i.dimension, text=i.text,
            allowed=ALLOWED_VALUES.dump_json(i.allowed).decode(), points=i.points,
        )
        for n, i in enumerate(asked.items)
    )  # fmt: skip
    trace = None
    if opened is not None:
        steps = TRACE.dump_json((SearchStep(query="q", opened=tuple(opened)),)).decode()
        trace = SearchTrace(**key, agent="a", trace=steps, trace_sha=content_sha(steps),
                            source="imported")  # fmt: skip
    return Case(
        report=report(text, assignment=asked.key),
        query=asked.query,
        citations=tuple(
            Citation(**key, agent="a", number=0, url=url, raw_url=url, kind="published")
            for url in cited
        ),
        rubric=rubric,
        bundle=make_rubric_bundle(rubric, asked.settings, "published"),
        trace=trace,
        usage=usage,
    )


def graded(text: str, items: Sequence[PublishedItem]) -> tuple[float, float]:
    """Shares of the points that a report gets which is given those of the rubrics whose text it
    holds."""
    shares = []
    for dimension in (QUERY, GENERAL):
        of = [i for i in items if i.dimension == dimension]
        shares.append(sum(i.points for i in of if i.text in text) / sum(i.points for i in of))
    return shares[0], shares[1]
