"""Attachments: PDFs and images sent to a model with a request, unchanged."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from tasks.base import Frozen
from tasks.warehouse.contents import FileStore

Medium = Literal["image", "pdf"]
PDF = "application/pdf"
IMAGE_TYPES = {
    "gemini": frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}),
    "openai_chat": frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"}),
    "anthropic": frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"}),
}
"""The image types that each kind of client accepts, as its provider lists them."""
MAX_ATTACHMENT_BYTES = 14_000_000
"""Limit of all files of one request. Gemini takes requests below 20 MB: as base64 this is 18.7 MB,
which leaves room for the texts. OpenAI takes 50 MB; the lower limit holds for all judges."""
BYTES_PER_PAGE = 6_000
"""Bytes of text that a PDF page or an image counts as. Caps count a byte as a token, and 6,000 is
more than the tokens providers state per page (Gemini 258 to 1,120; OpenAI up to some 4,000 per
image in high detail, for PDFs also their text). Estimates come to 1,430."""
MIN_BYTES_PER_PAGE = 20_000
"""Size of a small scanned page, to bound the number of pages of a PDF where it is unknown."""
CODE_LENGTH = 16
"""Hex digits of the code in the lines around a file."""


class Attachment(Frozen):
    """A file of a request. Its bytes are read only when it is sent, so that requests that are just
    counted, or wait for a batch, do not hold them in memory."""

    media_type: str
    sha: str
    """Sha-256 of its bytes: part of the request id."""
    n_bytes: int
    n_pages: int | None = None
    """Pages of a PDF; None if unknown."""
    name: str | None = None
    """What the report's text calls a picture, if it does."""
    folder: Path = Field(repr=False)
    """The folder in which files are stored under their sha (`FileStore`)."""

    def content(self) -> bytes:
        """Return the bytes.

        Raises:
            DamagedWarehouse: the file is missing or changed.
        """
        return FileStore(self.folder).get(self.sha)

    @property
    def description(self) -> str:
        """Media type, size and sha in words, for the ledger."""
        pages = f"{self.n_pages} pages, " if self.n_pages else ""
        return f"{self.media_type}, {pages}{self.n_bytes} bytes, sha-256 {self.sha}"

    @property
    def equivalent_bytes(self) -> int:
        """Bytes of text that the file counts as."""
        pages = 1
        if self.media_type == PDF:
            pages = self.n_pages or 1 + self.n_bytes // MIN_BYTES_PER_PAGE
        return pages * BYTES_PER_PAGE


def supported_media_types(kind: str, reads: Sequence[Medium]) -> frozenset[str]:
    """Return the media types that a judge's model can read.

    kind: the client's kind. reads: what the judge's entry states.
    """
    pictures = IMAGE_TYPES[kind] if "image" in reads else frozenset[str]()
    return pictures | ({PDF} if "pdf" in reads else set())


def fence_attachments(attachments: Sequence[Attachment]) -> Iterator[str | Attachment]:
    """Yield what is sent before a prompt: each file between two lines with its code.

    As for fenced texts (`judges.llm.prompts`), the code is derived from the content, so that a
    file cannot contain its own end line.
    """
    for number, attachment in enumerate(attachments, start=1):
        name = attachment_name(number, attachment)
        yield f"<<<BEGIN {name}>>>\n"
        yield attachment
        yield f"\n<<<END {name}>>>\n\n"


def attachment_name(number: int, attachment: Attachment) -> str:
    """Return name and code of the `number`-th (1-based) file of a request."""
    return f"attachment_{number} {attachment.sha[:CODE_LENGTH]}"
