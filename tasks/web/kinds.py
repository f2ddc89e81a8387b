"""Detect what a page's bytes are: its Content-Type and its first bytes often disagree.

Declared encodings are often wrong too, so one counts only if the bytes agree. A byte order mark and
valid UTF-8 decide alone; then the header's and the page's declarations are tried; then
charset-normalizer looks for the encoding whose text reads like a language.
"""

import re
from typing import Literal

from charset_normalizer import from_bytes
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

from tasks.warehouse.rows import replace_surrogates

MAX_DAMAGED = 0.002
"""Largest share of characters that may fail to decode, as where a page was cut."""
MAX_HIGH_LETTERS = 0.25
"""Largest share of non-ASCII letters in a Western European text; with more, windows-1252 is just a
server's wrong default."""
SAMPLE_BYTES = 20_000
"""Bytes of text, without tags, that suffice to detect an encoding."""
_WESTERN = frozenset({"cp1252", "ascii", "iso8859-1", "latin-1"})
_SEVEN_BIT = ("iso2022", "hz")
"""Prefixes of encodings that use ASCII bytes only."""
_HIGH = re.compile(r"[^\W\d_a-zA-Z]")
_LETTER = re.compile(r"[^\W\d_]")
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
PDF_WITHIN = 1024
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
    if b"%PDF-" in content[:PDF_WITHIN]:
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


def decode_page(content: bytes, content_type: str | None = None, *, is_html: bool = True) -> str:
    """Decode a page's bytes; undecodable ones become U+FFFD.

    content_type: the header, with or without a charset. is_html: the page may declare its own.
    """
    encoding, mark = read_bom(content)
    if encoding is not None and mark is not None:
        return replace_surrogates(to_unicode(content[len(mark) :], encoding))
    declared = _declared_encodings(content, content_type, is_html)
    return replace_surrogates(
        _decode_by_bytes(content, declared) or _decode_as_declared(content, declared)
    )


def _declared_encodings(content: bytes, content_type: str | None, is_html: bool) -> list[str]:
    """Return the encodings that the header and the page declare, the most trusted first."""
    header = http_content_type_encoding(content_type) if content_type else None
    page = html_body_declared_encoding(content) if is_html else None
    # Servers send Latin-1 by default; a page that declares something else knows better.
    order = (page, header) if header in _WESTERN else (header, page)
    return list(dict.fromkeys(name for name in order if name is not None))


def _decode_by_bytes(content: bytes, declared: list[str]) -> str | None:
    """Decode bytes that can be in one encoding only; return None for ambiguous ones."""
    if wide := _detect_utf16(content):
        return content.decode(wide, "replace")
    if any(name.startswith(_SEVEN_BIT) for name in declared):
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if b"\x1b$" in content else text


def _detect_utf16(content: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: every second byte of ASCII text is null."""
    sample = content[: SAMPLE_BYTES // 2 * 2]
    half = len(sample) // 2
    if half < 2 or sample.count(0) < half * 0.4:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > half * 0.4 and even < half * 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.4 and odd < half * 0.1 else None


def _decode_as_declared(content: bytes, declared: list[str]) -> str:
    best = ""
    for name in declared:
        try:
            text = to_unicode(content, resolve_encoding(name) or name)
        except (LookupError, ValueError):  # not a text encoding, such as `base64`
            continue
        if _is_sound(text, name):
            return text
        best = best or text
    guessed = _guess_encoding(content)
    if guessed is not None:
        return to_unicode(content, guessed)
    return best or content.decode("utf-8", "replace")


def _is_sound(text: str, encoding: str) -> bool:
    if text.count("\ufffd") > max(1, len(text) * MAX_DAMAGED):
        return False
    if encoding not in _WESTERN:
        return True
    sample = text[:SAMPLE_BYTES]
    return len(_HIGH.findall(sample)) <= MAX_HIGH_LETTERS * len(_LETTER.findall(sample))


def _guess_encoding(content: bytes) -> str | None:
    """Guess the encoding from the non-ASCII texts between tags; scripts and markup tell nothing."""
    texts = (piece.partition(b">") for piece in content.split(b"<") if not piece.isascii())
    sample = b" ".join(after or before for before, _, after in texts)[:SAMPLE_BYTES]
    best = from_bytes(sample).best()
    return None if best is None else resolve_encoding(best.encoding)
