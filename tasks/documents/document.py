"""A report file's kind, by its extension and its first bytes, and its content after reading."""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath

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
KINDS: dict[str, str] = {
    ".md": "plain",
    ".markdown": "plain",
    ".txt": "plain",
    ".html": "html",
    ".htm": "html",
    ".docx": "docx",
    ".pdf": "pdf",
    ".png": "picture",
    ".jpg": "picture",
    ".jpeg": "picture",
    ".webp": "picture",
    ".gif": "picture",
    ".bmp": "picture",
    ".tif": "picture",
    ".tiff": "picture",
}
"""Supported extensions, in lower case, and the kind of each: the module that reads it."""

PICTURE_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
    b"II+\0": "image/tiff",
    b"MM\0+": "image/tiff",
}
"""First bytes of pictures. WebP's are `RIFF`, four others, `WEBP`; for BMP see `_is_bmp`."""
_BMP_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})
"""Lengths of the header after BMP's first 14 bytes."""
_HTML = (b"<!doctype html", b"<html")
_ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of old Office files, and of new ones with a password."""
_PDF_WITHIN = 1024
"""Other bytes may precede `%PDF-`."""


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


def parse_kind(name: str) -> str:
    """Return the kind that a file's extension stands for.

    Raises:
        UnreadableDocument: the extension is not supported.
    """
    ending = PurePath(name).suffix.lower()
    if ending not in KINDS:
        raise UnreadableDocument(
            f"files that end in {ending or 'nothing'} are not read; expected one of "
            f"{' '.join(KINDS)}. Export it as one of these."
        )
    return KINDS[ending]


def detect_kind(content: bytes) -> str | None:
    """Detect the kind from the content; None if the content does not tell."""
    head = content[:_PDF_WITHIN]
    if b"%PDF-" in head:
        return "pdf"
    if head.startswith((_ZIP, OLE)):
        return "docx"
    if detect_picture_type(content) is not None:
        return "picture"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML):
        return "html"
    return None


def detect_picture_type(content: bytes) -> str | None:
    """Detect a picture's media type; None if it is not supported."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if _is_bmp(content):
        return "image/bmp"
    return next((t for first, t in PICTURE_TYPES.items() if content.startswith(first)), None)


def _is_bmp(content: bytes) -> bool:
    """Tell a BMP by more than its first two letters, with which texts begin too."""
    header = int.from_bytes(content[14:18], "little")
    return content.startswith(b"BM") and content[6:10] == bytes(4) and header in _BMP_HEADERS
