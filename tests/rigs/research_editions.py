"""Small editions of research queries, one a protocol, with reports of two made-up agents.

    python -m tests.rigs.research_editions --to FILE

What the reports say is known: every other item, point or keyword of their query. Each cites two
pages, one of which says what it is cited for. Used where an evaluation is disturbed (faults,
kills): what is true does not matter there, only that it stays the same.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.imports.queries import import_queries
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Report, content_sha
from tasks.warehouse.rubrics import BlockedSource, BundleSettings
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

AGENTS = ("thorough", "terse")
PROTOCOLS = {"gym": "research_gym", "bench": "rubric_bench", "rigor": "rigorous"}
"""Editions and what judges them."""
LAYOUTS = {"gym": "drgym", "bench": "drb2", "rigor": "rigorous"}
SUBJECTS = (
    "harbour", "viaduct", "orchard", "abbey", "arsenal", "brewery", "castle", "chapel",
    "foundry", "granary", "library", "market", "museum", "palace", "stadium", "theatre",
)  # fmt: skip
N_QUERIES = {"gym": 3, "bench": 16, "rigor": 6}
"""More where a report takes fewer calls: each edition is killed several times in its midst."""
HOLDS, ELSE = "https://holds.example.org/a", "https://else.example.org/b"
CRAFTS = ("masons", "smiths", "joiners", "tilers", "glaziers", "plumbers", "painters", "founders")
"""Parts and crafts: most words of a statement are in no other one of its subject."""
PARTS = ("deck", "tower", "cellar", "bridge", "gate", "roof", "stair", "hall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, required=True)
    with open_warehouse(parser.parse_args().to) as warehouse:
        write_research_editions(warehouse)


def write_research_editions(warehouse: Warehouse) -> None:
    """One edition for each of PROTOCOLS."""
    for edition, protocol in PROTOCOLS.items():
        published = PublishedSet(layout=LAYOUTS[edition], title="Made up", protocol=protocol)
        subjects = SUBJECTS[: N_QUERIES[edition]]
        queries = [_query(protocol, subject) for subject in subjects]
        import_queries(warehouse, published, queries, edition)
        warehouse.write(
            Change(Report, [_report(edition, a, s) for s in subjects for a in AGENTS]),
            Change(Page, _pages(edition, subjects)),
        )


def _statements(subject: str) -> list[str]:
    return [
        f"The {part} of the {subject} took {20 + number} {craft} {number + 3} months from "
        f"{1850 + 3 * number}."
        for number, (part, craft) in enumerate(zip(PARTS, CRAFTS, strict=True))
    ]


def _query(protocol: str, subject: str) -> PublishedQuery:
    query = PublishedQuery(key=subject, query=f"How was the {subject} built, and when?")
    statements = _statements(subject)
    if protocol == "research_gym":
        points = tuple((statement, (number,)) for number, statement in enumerate(statements, 1))
        return query.model_copy(update={"points": points})
    if protocol == "rubric_bench":
        items = _items(statements, ("info_recall", "analysis", "presentation"), ("1", "0", "-1"), 1)
        settings = BundleSettings(
            language="en", theme=subject, blocked=BlockedSource(title="None", urls=(ELSE,))
        )
    else:
        items = _items(statements, ("query", "general"), ("2", "0"), 2)
        settings = BundleSettings(
            theme=subject,
            focus_keywords=(subject, "deck", "tower"),
            deviation_keywords=("railway", "gate"),
            trusted_links=(HOLDS,),
        )
    return query.model_copy(update={"items": items, "settings": settings})


def _items(
    statements: Sequence[str], dimensions: Sequence[str], allowed: tuple[str, ...], most: int
) -> tuple[PublishedItem, ...]:
    return tuple(
        PublishedItem(
            item=f"{dimensions[number % len(dimensions)]}-{number}",
            dimension=dimensions[number % len(dimensions)],
            text=statement,
            allowed=allowed,
            points=most,
        )
        for number, statement in enumerate(statements)
    )


def _report(edition: str, agent: str, subject: str) -> Report:
    """Every other statement; the terse agent every fourth."""
    said = _statements(subject)[:: 2 if agent == "thorough" else 4]
    body = "\n\n".join(f"{statement} [{1 + n % 2}]" for n, statement in enumerate(said))
    text = f"# The {subject}\n\n{body}\n\n## References\n\n[1] One. {HOLDS}\n[2] Two. {ELSE}\n"
    return Report(
        edition=edition, agent=agent, assignment=subject, text=text, text_sha=content_sha(text),
        source_path=f"{subject}.md",
    )  # fmt: skip


def _pages(edition: str, subjects: Sequence[str]) -> list[Page]:
    texts = {
        HOLDS: "\n".join(s for subject in subjects for s in _statements(subject)),
        ELSE: "A page about ships and their captains, and about nothing else at all.",
    }
    return [
        Page(edition=edition, url=url, status="ok", text=text, text_sha=content_sha(text))
        for url, text in texts.items()
    ]


if __name__ == "__main__":
    main()
