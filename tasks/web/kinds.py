"""Detect what a page's bytes are: its Content-Type and its first bytes often disagree."""

import re
from typing import Literal

from w3lib.encoding import read_bom

ContentKind = Literal["html", "pdf", "json", "xml", "text", "jina", "other"]

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"), (b"MM\x00*", "image/tiff"), (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"), (b"PK\x03\x04", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x1f\x8b", "application/gzip"), (b"BZh", "application/x-bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"), (b"Rar!", "application/vnd.rar"),
    (b"\xfd7zXZ\x00", "application/x-xz"), (b"(\xb5/\xfd", "application/zstd"),
    (b"ID3", "audio/mpeg"), (b"OggS", "application/ogg"), (b"fLaC", "audio/flac"),
    (b"\x1a\x45\xdf\xa3", "video/webm"), (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/ps"), (b"\x7fELF", "application/x-executable"), (b"wOF", "font/woff"),
    (b"SQLite format 3", "application/x-sqlite3"),
)  # fmt: skip
"""First bytes of formats that are not read as text."""
_PDF_WITHIN = 1024
"""Other bytes may precede `%PDF-`."""
_SNIFFED = 4096
_BEFORE = re.compile(r"(?:\s|<!--.*?-->|<\?xml[^>]{0,400}\?>)*", re.S)
_HTML = re.compile(
    r"<(?:!doctype\s+html|html|head|body|title|meta|script|style|link|table|div|h[1-6]|p|br|font|"
    r"center|frameset|article|main|section|a|b|ul)\b",
    re.I,
)
_XHTML = re.compile(r"<html\b", re.I)
_XML = re.compile(r"<(?:!doctype|\w[\w.:-]*(?:\s|/?>))", re.I)
_MAX_CONTROL = 0.02
"""Largest share of control characters in a text; binary files have more."""


def parse_media_type(content_type: str | None) -> str | None:
    """Return `text/html` for `Text/HTML; charset=x`; None for what is not a media type."""
    media_type = (content_type or "").split(";")[0].split(",")[0].strip().lower()
    return media_type if re.fullmatch(r"[\w.+-]{1,60}/[\w.+-]{1,80}", media_type) else None


def detect_kind(content: bytes, content_type: str | None) -> tuple[ContentKind, str | None]:
    """Detect what to read a page as, and its actual media type."""
    media_type = parse_media_type(content_type)
    if b"%PDF-" in content[:_PDF_WITHIN]:
        return "pdf", "application/pdf"
    if foreign := _match_magic(content):
        # An Office file is a ZIP: the header is more specific than the first bytes.
        return "other", media_type if media_type and not media_type.startswith("text/") else foreign
    named_kind = _kind_of_media_type(media_type)
    if named_kind is not None and named_kind != "json":
        return named_kind, media_type
    begin, declared = _decode_head(content)
    if _XHTML.search(begin) if declared else _HTML.match(begin):
        return "html", "text/html"
    if named_kind == "json":
        return "json", media_type
    if not _is_text(content):
        return "other", media_type or "application/octet-stream"
    if begin[:1] in ("{", "["):
        return "json", media_type or "application/json"
    if declared or (_XML.match(begin) and media_type != "text/plain"):
        return "xml", media_type or "application/xml"
    return "text", media_type or "text/plain"


def _match_magic(content: bytes) -> str | None:
    for magic, name in _MAGIC:
        if content.startswith(magic) and (magic != b"BM" or b"\x00" in content[:64]):
            return name
    if content[:4] == b"RIFF":
        return "image/webp" if content[8:12] == b"WEBP" else "audio/x-wav"
    return "video/mp4" if content[4:8] == b"ftyp" else None


def _decode_head(content: bytes) -> tuple[str, bool]:
    """Return the first significant characters, in an encoding good enough for tags, and whether
    an XML declaration precedes them."""
    encoding, mark = read_bom(content[:4])
    head = content[len(mark or b"") : _SNIFFED]
    text = head.decode(encoding or "latin-1", "replace")
    text = text.replace("\x00", "")  # UTF-16 without its mark
    found = _BEFORE.match(text)
    before = found[0] if found else ""
    return text[len(before) :], "<?xml" in before


def _kind_of_media_type(media_type: str | None) -> ContentKind | None:
    """Return the kind that a media type implies for sure; None if the bytes must decide."""
    if media_type is None:
        return None
    if media_type in ("text/html", "application/xhtml+xml"):
        return "html"
    if media_type.startswith(("image/", "audio/", "video/", "font/")):
        return "other"
    return "json" if media_type.endswith(("/json", "+json")) else None


def _is_text(content: bytes) -> bool:
    encoding, _ = read_bom(content[:4])
    sample = content[:_SNIFFED]
    text = sample.decode(encoding or "latin-1", "replace")
    if encoding is None and 0.3 < sample.count(0) / (len(sample) or 1) < 0.6:
        text = text.replace("\x00", "")  # UTF-16 without its mark
    control = sum(c < " " and c not in "\t\n\r\f\x1b" for c in text)
    return control <= len(text) * _MAX_CONTROL
