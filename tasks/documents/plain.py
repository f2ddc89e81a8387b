"""Text files: Markdown and plain text, in the encodings of Unicode."""

import codecs

from tasks.documents.document import Document, UnreadableDocument

READER = "text 1"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Bytes at the begin of a file that say its encoding."""


def read(content: bytes) -> Document:
    """The text as it stands."""
    return Document(markdown=decoded(content), media_type="text/markdown", reader=READER)


def decoded(content: bytes) -> str:
    """A file's text.

    An older encoding (Latin-1, Windows-1252) is not guessed: a wrong guess would change names
    and nobody would see it.

    Raises:
        UnreadableDocument: it is not Unicode; says where.
    """
    encoding = next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableDocument(
            f"it is not {encoding.removesuffix('-sig').upper()} (byte {error.start:,}). Save it as "
            "UTF-8."
        ) from None
    if "\x00" in text:
        raise UnreadableDocument("it holds null characters, so it is no text. Export it afresh.")
    return text
