"""Read text files: Markdown and plain text, in Unicode encodings."""

import codecs

from tasks.documents.document import ParsedDocument, UnreadableDocument

READER = "text 1"
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and the encodings they stand for."""


def read(content: bytes) -> ParsedDocument:
    """Read a text file unchanged."""
    return ParsedDocument(markdown=decode_text(content), media_type="text/markdown", reader=READER)


def decode_text(content: bytes) -> str:
    """Decode a file.

    Older encodings (Latin-1, Windows-1252) are not guessed: a wrong guess would silently corrupt
    names.

    Raises:
        UnreadableDocument: it is not Unicode; says where.
    """
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8")
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
