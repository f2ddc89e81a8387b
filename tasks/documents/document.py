"""The content of a report file after reading, whatever its format."""

import re
from collections.abc import Sequence
from itertools import groupby

from pydantic import ConfigDict

from tasks.base import Frozen

MAX_FILE_BYTES = 50_000_000
"""Larger files are not read; a report of 10,000 words with pictures is far smaller."""
MAX_PAGES = 200
"""Longer PDFs are not read: no report is that long."""
MAX_CHARACTERS = 5_000_000
"""Longest text of a file. The longest of the 552 published reports has 0.1 million characters."""
MAX_PICTURES = 200
MAX_PICTURE_BYTES = 100_000_000
"""Most pictures in a file, and most bytes of all of them; others are left out, with a remark."""
_PICTURE_LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)")
"""A picture in the Markdown."""


class Picture(Frozen):
    """A picture in a file."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    name: str
    """Its name in the text."""
    media_type: str
    content: bytes


class UnreadablePage(Frozen):
    """A page whose text could not be read."""

    number: int
    """1-based."""
    reason: str
    is_viewable: bool = False
    """Whether the page shows something, such as a scan; False for a damaged page."""


class ParsedDocument(Frozen):
    """A report file as Markdown."""

    markdown: str
    media_type: str
    reader: str
    """The library that read it, with its version."""
    pictures: tuple[Picture, ...] = ()
    n_pages: int | None = None
    """None for formats without pages."""
    unread_pages: tuple[UnreadablePage, ...] = ()
    remarks: tuple[str, ...] = ()
    """Messages about what was read incompletely or changed."""

    @property
    def textless(self) -> bool:
        """Whether it holds no text."""
        return not _PICTURE_LINK.sub("", self.markdown).strip()

    @property
    def scanned(self) -> bool:
        """Whether it consists of pictures without text."""
        seen = bool(self.pictures) or any(page.is_viewable for page in self.unread_pages)
        return self.textless and seen

    @property
    def page_remarks(self) -> tuple[str, ...]:
        """Messages about the pages whose text could not be read, one for each reason."""
        by_reason: dict[str, list[int]] = {}
        for page in self.unread_pages:
            by_reason.setdefault(page.reason, []).append(page.number)
        return tuple(
            f"page{'s' if len(numbers) > 1 else ''} {_format_ranges(numbers)} of {self.n_pages} "
            f"not read: {reason}"
            for reason, numbers in by_reason.items()
        )


def _format_ranges(numbers: Sequence[int]) -> str:
    """Format sorted numbers like `1-3, 7`."""
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


class UnreadableDocument(Exception):
    """A file cannot be read; says why and what to do. The caller adds the path."""
