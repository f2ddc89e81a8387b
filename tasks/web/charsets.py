"""Bytes into characters: by what they are first, then by what somebody says they are.

Servers and pages lie about their encoding, so nothing that is said counts unless the bytes
agree. A byte order mark and sound UTF-8 speak for themselves; then the header and the page's own
word are tried, then charset-normalizer looks for the encoding whose text reads like a language.
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

from tasks.warehouse.rows import storable

MOST_DAMAGED = 0.002
"""Share of characters that an encoding may fail to give, as where a page was cut in the middle."""
MOST_HIGH_LETTERS = 0.25
"""Share of letters above ASCII in a Western European text; with more, windows-1252 is the lie of a
server's default."""
SAMPLE = 20_000
"""Bytes of the text, without its tags, that are enough to tell an encoding."""
_WESTERN = frozenset({"cp1252", "ascii", "iso8859-1", "latin-1"})
_SEVEN_BIT = ("iso2022", "hz")
"""Encodings whose bytes all look like ASCII."""
_HIGH = re.compile(r"[^\W\d_a-zA-Z]")
_LETTER = re.compile(r"[^\W\d_]")


def decoded(content: bytes, content_type: str | None = None, *, is_html: bool = True) -> str:
    """The text of a page, whatever its bytes are; what no encoding explains becomes U+FFFD.

    content_type: the header, with or without a charset. is_html: the page may name its own.
    """
    encoding, mark = read_bom(content)
    if encoding is not None and mark is not None:
        return storable(to_unicode(content[len(mark) :], encoding))
    said = _said(content, content_type, is_html)
    return storable(_told_by_its_bytes(content, said) or _as_said(content, said))


def _said(content: bytes, content_type: str | None, is_html: bool) -> list[str]:
    """What the header and the page name, in order of trust."""
    header = http_content_type_encoding(content_type) if content_type else None
    page = html_body_declared_encoding(content) if is_html else None
    # Servers send Latin-1 for all their pages; a page that names something else knows better.
    order = (page, header) if header in _WESTERN else (header, page)
    return list(dict.fromkeys(name for name in order if name is not None))


def _told_by_its_bytes(content: bytes, said: list[str]) -> str | None:
    """The text where the bytes can be only one thing; None where they may be many."""
    if wide := _wide(content):
        return content.decode(wide, "replace")
    if any(name.startswith(_SEVEN_BIT) for name in said):
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if b"\x1b$" in content else text


def _wide(content: bytes) -> str | None:
    """UTF-16 without its mark: every second byte of ASCII text is null."""
    sample = content[: SAMPLE // 2 * 2]
    half = len(sample) // 2
    if half < 2 or sample.count(0) < half * 0.4:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > half * 0.4 and even < half * 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.4 and odd < half * 0.1 else None


def _as_said(content: bytes, said: list[str]) -> str:
    best = ""
    for name in said:
        try:
            text = to_unicode(content, resolve_encoding(name) or name)
        except (LookupError, ValueError):  # a name of something else, as `base64`
            continue
        if _is_sound(text, name):
            return text
        best = best or text
    guessed = _guessed(content)
    if guessed is not None:
        return to_unicode(content, guessed)
    return best or content.decode("utf-8", "replace")


def _is_sound(text: str, encoding: str) -> bool:
    if text.count("\ufffd") > max(1, len(text) * MOST_DAMAGED):
        return False
    if encoding not in _WESTERN:
        return True
    sample = text[:SAMPLE]
    return len(_HIGH.findall(sample)) <= MOST_HIGH_LETTERS * len(_LETTER.findall(sample))


def _guessed(content: bytes) -> str | None:
    """By the texts between tags that are not all ASCII: scripts and markup say nothing."""
    texts = (piece.partition(b">") for piece in content.split(b"<") if not piece.isascii())
    sample = b" ".join(after or before for before, _, after in texts)[:SAMPLE]
    best = from_bytes(sample).best()
    return None if best is None else resolve_encoding(best.encoding)
