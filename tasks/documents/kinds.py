"""What kind of file it is: by the ending of its name, and by its first bytes."""

from pathlib import PurePath

from tasks.documents.document import UnreadableDocument

KINDS: dict[str, str] = {
    ".md": "text",
    ".markdown": "text",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".docx": "docx",
    ".pdf": "pdf",
    ".png": "picture",
    ".jpg": "picture",
    ".jpeg": "picture",
    ".webp": "picture",
    ".gif": "picture",
}
"""Endings that are read, in lower case, and the kind of reader for each."""

PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
"""First bytes of pictures; WebP's are `RIFF`, four others, `WEBP`."""
_HTML = (b"<!doctype html", b"<html")
_ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Old Office files, and new ones under a password."""
_PDF_WITHIN = 1024
"""`%PDF-` may stand behind some bytes that are not the document's."""


def said_kind(name: str) -> str:
    """The kind that a file's name says it is of.

    Raises:
        UnreadableDocument: its ending is not one that is read.
    """
    ending = PurePath(name).suffix.lower()
    if ending not in KINDS:
        raise UnreadableDocument(
            f"files that end in {ending or 'nothing'} are not read; expected one of "
            f"{' '.join(KINDS)}. Export it as one of these."
        )
    return KINDS[ending]


def found_kind(content: bytes) -> str | None:
    """The kind that the content shows; None where nothing shows it."""
    head = content[:_PDF_WITHIN]
    if b"%PDF-" in head:
        return "pdf"
    if head.startswith((_ZIP, OLE)):
        return "docx"
    if picture_type(content) is not None:
        return "picture"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML):
        return "html"
    return None


def picture_type(content: bytes) -> str | None:
    """A picture's media type; None if it is none of those that are read."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((t for first, t in PICTURES.items() if content.startswith(first)), None)
