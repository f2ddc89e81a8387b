"""What a report's file holds once it is read, whatever its format."""

import re
from collections.abc import Sequence
from itertools import groupby

from tasks.base import Frozen

MAX_FILE_BYTES = 50_000_000
"""Larger files are not read; a report of ten thousand words with pictures is far below."""
MAX_PAGES = 200
"""Longer PDFs are not read: a report of that length is a book, or not a report at all."""
MAX_CHARACTERS = 5_000_000
"""Of a file's text. The longest of the 552 published reports holds 0.1 million."""
MAX_PICTURES = 200
MAX_PICTURE_BYTES = 100_000_000
"""Pictures in one file, and their bytes together; further ones are left out, with a remark."""
_SHOWN = re.compile(r"!\[[^\]]*\]\([^)]*\)")
"""Where the text shows a picture."""


class Picture(Frozen):
    """A picture within a file."""

    name: str
    """What the text calls it."""
    media_type: str
    content: bytes


class UnreadPage(Frozen):
    """A page of which no text could be read."""

    number: int
    """1-based."""
    reason: str
    to_be_seen: bool = False
    """Whether there is something on it for one who sees: a scan, not a damaged page."""


class Document(Frozen):
    """A file as Markdown."""

    markdown: str
    media_type: str
    reader: str
    """What read it, with its version."""
    pictures: tuple[Picture, ...] = ()
    n_pages: int | None = None
    """Null for formats without pages."""
    unread_pages: tuple[UnreadPage, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was read otherwise than as it stands, in words."""

    @property
    def textless(self) -> bool:
        """Whether it says nothing in letters."""
        return not _SHOWN.sub("", self.markdown).strip()

    @property
    def scanned(self) -> bool:
        """Whether it came as pictures: no text, but something to look at."""
        seen = bool(self.pictures) or any(page.to_be_seen for page in self.unread_pages)
        return self.textless and seen

    @property
    def page_remarks(self) -> tuple[str, ...]:
        """The pages of which no text could be read, in words, those of one reason together."""
        by_reason: dict[str, list[int]] = {}
        for page in self.unread_pages:
            by_reason.setdefault(page.reason, []).append(page.number)
        return tuple(
            f"page{'s' if len(numbers) > 1 else ''} {_ranges(numbers)} of {self.n_pages} not "
            f"read: {reason}"
            for reason, numbers in by_reason.items()
        )


def _ranges(numbers: Sequence[int]) -> str:
    """`1-3, 7` of numbers in order."""
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


class UnreadableDocument(Exception):
    """A file cannot be read; says why and what to do. Its path is said by whoever knows it."""
