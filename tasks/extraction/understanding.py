"""What the offline extractor understands of a report."""

from dataclasses import dataclass

from tasks.base import format_count
from tasks.extraction.claims import extract_claims
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HELPERS, TEXT_SECONDS


@dataclass(frozen=True, slots=True)
class Understanding:
    """Counts of what was found in a report's text."""

    words: int = 0
    claims: int = 0
    markers: int = 0
    """Citation markers in the text."""
    resolved: int = 0
    """Those that lead to an address."""
    entries: int = 0
    """Entries with an address in its lists of references."""
    pairs_reason: str | None = None
    """Why it is not reliable which claim cites what; None if it is."""

    def describe(self) -> str:
        """Say it in one line."""
        reason = f"; {self.pairs_reason}" if self.pairs_reason else ""
        return (
            f"{format_count(self.words, 'word')}, {format_count(self.claims, 'claim')}, "
            f"{format_count(self.markers, 'citation marker')} ({self.resolved:,} lead to an "
            f"address), {format_count(self.entries, 'list entry', 'list entries')} with an "
            f"address{reason}"
        )


def understand(title: str, markdown: str) -> Understanding:
    """Count what the offline extractor finds in a report. Never raises."""
    found = extract_claims(title, markdown)
    return Understanding(
        len(markdown.split()), len(found), found.n_markers, found.n_resolved, found.n_entries,
        found.pairs_reason,
    )  # fmt: skip


def understand_in_helper(title: str, markdown: str) -> Understanding:
    """The same within a helper's limits; beyond them that is the reason, and nothing is found."""
    try:
        return HELPERS.submit(understand, title, markdown, seconds=TEXT_SECONDS).result()
    except (LimitExceeded, HelperFailed) as error:
        return Understanding(len(markdown.split()), pairs_reason=f"reading it {error}")
