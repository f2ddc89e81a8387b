"""What a command says of an edition beside its answer: what comes next, what cannot be."""

from collections.abc import Sequence

from flows.display.console import remark
from tasks.judging.protocols import go_by_pages, protocols_for, why_idle
from tasks.warehouse.store import Readable

PAGE_COUNTS = "SELECT * EXCLUDE (edition) FROM page_counts WHERE edition = $1"
"""What became of the pages that an edition's reports cite."""


def say_next(source: Readable, edition: str) -> None:
    """What follows when reports have come."""
    if go_by_pages(protocols_for(source, edition)):
        remark(f"Next: evergreen fetch --edition {edition}, then `evaluate`")
    else:
        remark(f"Next: evergreen evaluate --edition {edition}")


def say_idle(source: Readable, edition: str, protocols: Sequence[str]) -> None:
    """Name the protocols that can judge no report of the edition, with the reason."""
    for name in protocols:
        if reason := why_idle(source, edition, name):
            remark(f"{name} judges nothing of {edition}: {reason}.", "yellow")


def say_unfetched(source: Readable, edition: str, protocols: Sequence[str]) -> None:
    """A remark where figures of references rest on fewer pages than they could."""
    if not go_by_pages(protocols):
        return
    counted = source.frame(PAGE_COUNTS, [edition])
    left = int(counted.filter(counted["status"] == "not fetched")["pages"].sum())
    if left:
        remark(
            f"Cited pages that were never fetched: {left:,}. What rests on them is open, and in no "
            f"estimate: `evergreen fetch --edition {edition}` asks for them.",
            style="yellow",
        )
