"""Decode pages: by their bytes first, then by their declared encodings.

Servers and pages often declare a wrong encoding, so a declaration counts only if the bytes agree.
A byte order mark and valid UTF-8 decide alone; then the header's and the page's declarations are
tried; then charset-normalizer looks for the encoding whose text reads like a language.
"""

import re

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
