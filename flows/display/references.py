"""Print counts of the claims by what became of the pages that they cite."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.wide_table import WideColumn, print_wide_table
from tasks.configuration.models import get_judge_title, load_judges
from tasks.judges.registry import load_judge as registered
from tasks.warehouse.explanations import CITATION_STATES
from tasks.warehouse.store import Readable

COUNTS = "SELECT * FROM reference_counts WHERE edition = $1 AND judge = $2 ORDER BY agent"
CLAIMS = {
    "reports": "Reports",
    "claims": "Claims",
    "untrusted": "Untrusted",
    "uncited": "Uncited",
    "cited": "Cited",
    "open": "Open",
    "without_page": "No page",
    "refused": "Refused",
    "evaluated": "Evaluated",
}
SUPPORT = {
    "supported": "Supported",
    "disputed": "Disputed",
    "contradicted": "Conflict",
    "not_supported": "Not supp.",
    "ref_acc": "Ref. acc.",
    "counted_pairs": "of pairs",
    "ref_acc_readable": "Readable",
    "evaluated": "of claims",
    "pairs_from_excerpts": "Excerpts",
}
STATES = """
SELECT agent, state, count(*) AS n FROM citation_states
WHERE edition = $1 AND judge = $2 AND protocol = 'wiki_fact' GROUP BY ALL ORDER BY ALL
"""
NOTE = (
    "Claims of judged reports. Untrusted: their report's claim-URL pairs are unreliable. Open: no "
    "cited page has a verdict, and at least one is pending. No page: no cited page can be read. "
    "Disputed: supported by one page, contradicted by another. Ref. acc.: percent of the pairs, of "
    "which those count whose page cannot be read; Readable: of the evaluated claims; both pooled, "
    "while the leaderboard has means over reports. Excerpts: pairs whose judge saw a part of "
    "the page. Each citation, a pair of claim and page, has one state: the first of those above "
    "that holds."
)


def print_references(source: Readable, edition: str, judge: str | None, form: Format) -> None:
    """Print counts per agent by one judge's verdicts; the default judge's if none is given."""
    known = load_judges()
    name = judge or known.default
    frame = source.frame(COUNTS, [edition, name])
    if frame.is_empty():
        registered(name)  # raises if there is no such judge
    if form is not Format.TABLE:
        print_frame(frame, form)
        return
    if frame.is_empty():
        print_message(
            f"{edition} has no verdicts of the judge {name} yet: `evergreen evaluate --edition "
            f"{edition} --judge {name}`.",
        )
        return
    if name in known.judges and not registered(name).sees_conflict:
        frame = frame.with_columns(contradicted=pl.lit(None), disputed=pl.lit(None))
    rows = frame.to_dicts()
    _print_table(f"{edition} · {get_judge_title(name)} · claims", CLAIMS, rows)
    _print_table("What their pages said", SUPPORT, rows)
    _print_table("Citations by what became of them", *_count_states(source, edition, name))
    print_result(NOTE, style="dim")


def _count_states(
    source: Readable, edition: str, judge: str
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the states of citations that occur, with their headings, and their numbers by agent,
    of all reports that the judge has begun with."""
    counted = source.frame(STATES, [edition, judge]).pivot("state", index="agent").fill_null(0)
    headings = {
        state: words[0].upper() + words[1:]
        for state, words in CITATION_STATES.items()
        if state in counted.columns
    }
    return headings, counted.to_dicts()


def _print_table(title: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    print_wide_table(
        STDOUT,
        title,
        [WideColumn("Agent", [row["agent"] for row in rows], "left")],
        [
            WideColumn(heading, [_format_cell(row[name]) for row in rows])
            for name, heading in columns.items()
        ],
    )


def _format_cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value * 100:.1f}" if isinstance(value, float) else f"{value:,}"
