"""Convert inline content to plain text, without links and emphasis, keeping superscripts."""

import re
from unicodedata import normalize

_WHITESPACE = re.compile(r"[^\S\n]+")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
"""Control characters, soft hyphens, zero-width and direction marks, but not joiners."""
_AROUND_BREAK = re.compile(r"\s*\n\s*")
_EMPTIED_BRACKETS = re.compile(r"(?<=\s)\(\s*[;,]?\s*\)\s?")
_LEFT_IN_BRACKETS = re.compile(r"(?<=\()\s*[;,]\s+")
"""Remains of a dropped marker, sound or box: `( )`, `(; born 1907)`."""
_EXPONENT = re.compile(r"[+\-−–]?[0-9]{1,6}")
_RAISED = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")

_LINK = re.compile(r"\](?=\()")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINE_MARK = re.compile(
    r"""
    \#{1,6}(?=\s|$) | > | [-+*](?=\s|$) | `{3} | ~{3} | \|
    | \[[^\]]*\]:
    """,
    re.VERBOSE,
)
_RULE = frozenset("-*_=|: ")
"""Characters of a thematic break, a heading's underline or a table's delimiter row."""
_LINE_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)](?:\s|$))")


class InlineText:
    """Collects the pieces of one paragraph, heading or cell."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._superscript_starts: list[int] = []
        self._n_bold = 0
        self._n_plain = 0

    def add(self, text: str, bold: bool = False) -> None:
        """Add text; line breaks in it become spaces."""
        self._pieces.append(text.replace("\n", " "))
        if not text.isspace():
            self._n_bold += bold
            self._n_plain += not bold

    def add_line_break(self) -> None:
        """Add the line break of a `<br>`."""
        self._pieces.append("\n")

    def begin_superscript(self) -> None:
        """Begin a superscript."""
        self._superscript_starts.append(len(self._pieces))

    def end_superscript(self) -> None:
        """End the superscript: a number becomes an exponent, since 10⁶ is not 106."""
        if not self._superscript_starts:
            return
        start = min(self._superscript_starts.pop(), len(self._pieces))
        content = "".join(self._pieces[start:]).strip()
        if _EXPONENT.fullmatch(content):
            self._pieces[start:] = [content.translate(_RAISED)]

    def to_text(self) -> str:
        """Return the text so far, in NFC."""
        text = strip_invisible("".join(self._pieces))
        text = _AROUND_BREAK.sub("\n", _WHITESPACE.sub(" ", text)).strip()
        if "(" in text:
            text = _LEFT_IN_BRACKETS.sub("", _EMPTIED_BRACKETS.sub("", text)).strip()
        return text

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been added."""
        return not self._pieces

    @property
    def all_bold(self) -> bool:
        """Whether there is text and all of it is bold."""
        return self._n_bold > 0 and self._n_plain == 0


def strip_invisible(text: str) -> str:
    """Remove control and zero-width characters, and normalize to NFC."""
    return normalize("NFC", _INVISIBLE.sub("", text))


def escape_lines(text: str) -> str:
    """Escape tags, links and line starts that Markdown would read as another kind of block."""
    return "\n".join(map(_escape_line, escape_words(text).split("\n")))


def escape_words(text: str) -> str:
    """Escape tags and links, in text that does not begin a line."""
    return _TAG.sub(r"\\<", _LINK.sub(r"]\\", text))


def _escape_line(line: str) -> str:
    if _LINE_MARK.match(line) or (line and _RULE.issuperset(line)):
        return "\\" + line
    number = _LINE_NUMBER.match(line)
    return f"{number[0]}\\{line[number.end() :]}" if number else line
