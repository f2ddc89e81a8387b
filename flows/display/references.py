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
from tasks.warehouse.store import Readable

COUNTS = "SELECT * FROM reference_counts WHERE edition = $1 AND judge = $2 ORDER BY agent"
CLAIMS = {
    "reports": "Reports",
    "claims": "Claims",
    "untrusted": "Untrusted",
    "uncited": "Uncited",
    "cited": "Cited",
    "never_fetched": "Never fetched",
    "without_page": "No page",
    "not_assessed": "Not assessed",
    "evaluated": "Evaluated",
}
SUPPORT = {
    "supported": "Supported",
    "conflict": "Conflict",
    "not_supported": "Not supp.",
    "ref_acc": "Ref. acc.",
    "evaluated": "of claims",
    "ref_acc_strict": "Strict",
    "strict": "of claims",
    "decided_pairs": "Pairs",
    "pairs_from_excerpts": "from excerpts",
}
STATUSES = {
    "unfetchable": "Unfetchable",
    "bot_wall": "Bot wall",
    "login_wall": "Login",
    "cookie_wall": "Cookies",
    "soft_404": "Soft 404",
    "empty": "Empty",
    "too_large": "Too large",
    "refused": "Refused",
    "robots": "Robots",
    "unreadable": "Unreadable",
    "several": "Several",
}
NOTE = (
    "Claims of judged reports. Untrusted: their report's claim-URL pairs are unreliable. Never "
    "fetched: no cited page has a text, and at least one is pending. No page: all cited pages "
    "failed. Ref. acc.: percent of the evaluated claims; Strict counts claims with no page as not "
    "supported, too; both over pooled claims, while the leaderboard has means over reports. from "
    "excerpts: pairs whose judge saw a part of the page."
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
        frame = frame.with_columns(conflict=pl.lit(None))
    rows = frame.to_dicts()
    _print_table(f"{edition} · {get_judge_title(name)} · claims", CLAIMS, rows)
    _print_table("What their pages said", SUPPORT, rows)
    came_to = {name: head for name, head in STATUSES.items() if any(row[name] for row in rows)}
    if came_to:
        _print_table("Claims with no page, by what their pages were", came_to, rows)
    print_result(NOTE, style="dim")


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
