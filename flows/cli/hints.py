"""Hints of commands about an edition: the next step, idle protocols, pending pages."""

from collections.abc import Sequence

from flows.display.console import print_message
from tasks.base import format_count
from tasks.judges.registry import load_judge
from tasks.judging.cells import plan_cells
from tasks.judging.protocols import choose_protocols, explain_idle, need_pages
from tasks.pending.evaluation import find_pending_cells
from tasks.pending.status import count_scored
from tasks.protocols.registry import available_protocols
from tasks.warehouse.store import Readable

PAGE_COUNTS = "SELECT * EXCLUDE (edition) FROM page_counts WHERE edition = $1"
"""The pages that an edition's reports cite, by status."""


def print_next_step(source: Readable, edition: str) -> None:
    """Print the next command after reports have arrived."""
    if need_pages(choose_protocols(source, edition)):
        print_message(f"Next: evergreen fetch --edition {edition}, then `evaluate`")
    else:
        print_message(f"Next: evergreen evaluate --edition {edition}")


def print_unchosen(
    source: Readable, edition: str, judge_name: str, protocols: Sequence[str]
) -> None:
    """Print which cells are pending, as `status` counts them, of protocols that have judged the
    edition before but are not among these."""
    judge = load_judge(judge_name)
    others = set(count_scored(source, edition, judge)) - {*protocols}
    for name, protocol in available_protocols(sorted(others)).items():
        plans = plan_cells(source, edition, protocol, judge)
        if left := len(find_pending_cells(plans)):
            print_message(
                f"{name} has {format_count(left, 'pending cell')}, and judges {edition} only when "
                f"it is named: evergreen evaluate --edition {edition} --protocol {name}"
            )


def warn_about_idle_protocols(
    source: Readable, edition: str, protocols: Sequence[str], *, named: bool
) -> None:
    """Print the protocols that can judge no report of the edition, with the reason. Unless a
    person named them, only if none of them can."""
    reasons = {name: explain_idle(source, edition, name) for name in protocols}
    if not named and None in reasons.values():
        return
    for name, reason in reasons.items():
        if reason:
            print_message(f"{name} does not apply to {edition}: {reason}.", "yellow")


def warn_about_pending_pages(source: Readable, edition: str, protocols: Sequence[str]) -> None:
    """Print a warning if protocols that judge by pages have pending ones."""
    if not need_pages(protocols):
        return
    counted = source.frame(PAGE_COUNTS, [edition])
    left = int(counted.filter(counted["status"] == "not fetched")["pages"].sum())
    if left:
        print_message(
            f"Cited pages that were never fetched: {left:,}. Items that need them are open, and in "
            f"no estimate: `evergreen fetch --edition {edition}` fetches them.",
            style="yellow",
        )
