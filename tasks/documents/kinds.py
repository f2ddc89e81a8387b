"""Determine a file's kind by its extension, and by its first bytes."""

from pathlib import PurePath

from tasks.documents.document import UnreadableDocument

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
