"""Files that a model looks at: PDFs and pictures, sent with a question as they are."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from tasks.base import Frozen
from tasks.warehouse.files import FileStore

Medium = Literal["image", "pdf"]
PDF = "application/pdf"
IMAGES = {
    "gemini": frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}),
    "openai_chat": frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"}),
}
"""Kind of client to the pictures its interface takes, as its provider lists them."""
MOST_BYTES = 14_000_000
"""Of all files of one request. Gemini takes requests of less than 20 MB with what is inside them;
as base64 these are 18.7 MB and leave room for the texts. OpenAI takes 50 MB: what one judge can
be shown another one can be shown too."""
BYTES_OF_A_PAGE = 6_000
"""As how many bytes of text a page of a PDF, or a picture, counts. Caps take a byte for a token:
6,000 are more than providers say a page takes (Gemini 258 to 1,120; OpenAI a picture of up to some
4,000 in high detail, with a PDF also its text). Estimates come to 1,430."""
LEAST_BYTES_OF_A_PAGE = 20_000
"""Of a scan, roughly: how many pages a PDF has at most of which nobody knows."""
CODE_LENGTH = 16
"""Hex digits of the code between whose lines a file stands."""


class Attachment(Frozen):
    """One file as a request names it. Its bytes are read when it is sent, and known by its sha:
    what is only counted, or waits for a batch, does not hold them in memory."""

    media_type: str
    sha: str
    """Sha-256 of its bytes: part of the request's address."""
    n_bytes: int
    n_pages: int | None = None
    """Of a PDF; None where nobody knows."""
    folder: Path = Field(repr=False)
    """Where files are kept under their sha (`FileStore`)."""

    def content(self) -> bytes:
        """The bytes.

        Raises:
            DamagedWarehouse: they are not there, or not what they were.
        """
        return FileStore(self.folder).get(self.sha)

    @property
    def described(self) -> str:
        """For the ledger: what it is, in words."""
        pages = f"{self.n_pages} pages, " if self.n_pages else ""
        return f"{self.media_type}, {pages}{self.n_bytes} bytes, sha-256 {self.sha}"

    @property
    def counts_as_bytes(self) -> int:
        """Bytes of text that stand for what a model reads of it."""
        pages = 1
        if self.media_type == PDF:
            pages = self.n_pages or 1 + self.n_bytes // LEAST_BYTES_OF_A_PAGE
        return pages * BYTES_OF_A_PAGE


def media_types(kind: str, reads: Sequence[Medium]) -> frozenset[str]:
    """The media types that a judge's model sees.

    kind: of its client. reads: what its entry says of the model.
    """
    pictures = IMAGES[kind] if "image" in reads else frozenset[str]()
    return pictures | ({PDF} if "pdf" in reads else set())


def laid_out(attachments: Sequence[Attachment]) -> Iterator[str | Attachment]:
    """What is sent before a prompt: each file between two lines that carry its code.

    As with fenced texts (`judges.prompts`) the code is made from the content, so that what can be
    read in a file cannot end it.
    """
    for number, attachment in enumerate(attachments, start=1):
        name = name_of(number, attachment)
        yield f"<<<BEGIN {name}>>>\n"
        yield attachment
        yield f"\n<<<END {name}>>>\n\n"


def name_of(number: int, attachment: Attachment) -> str:
    """Name and code of the `number`-th (1-based) file of a request."""
    return f"attachment_{number} {attachment.sha[:CODE_LENGTH]}"
