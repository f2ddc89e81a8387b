"""A run of inline content as plain text: links, emphasis and markers gone, numbers unhurt."""

import re
from unicodedata import normalize

_WHITESPACE = re.compile(r"[^\S\n]+")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
"""Controls, soft hyphens, zero-width and direction marks; joiners stay, scripts need them."""
_AROUND_BREAK = re.compile(r"\s*\n\s*")
_EMPTIED_BRACKETS = re.compile(r"(?<=\s)\(\s*[;,]?\s*\)\s?")
_LEFT_IN_BRACKETS = re.compile(r"(?<=\()\s*[;,]\s+")
"""What a dropped marker, sound or box leaves behind: `( )`, `(; born 1907)`."""
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
"""All that a rule, the line under a heading or the one under a table's head may hold."""
_LINE_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)](?:\s|$))")


class Run:
    """Collects the pieces of one paragraph, heading or cell."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._raised_from: list[int] = []
        self._n_bold = 0
        self._n_plain = 0

    def text(self, text: str, bold: bool = False) -> None:
        """Add text; only `line_break` breaks lines."""
        self._pieces.append(text.replace("\n", " "))
        if not text.isspace():
            self._n_bold += bold
            self._n_plain += not bold

    def line_break(self) -> None:
        """What `<br>` does."""
        self._pieces.append("\n")

    def raised(self) -> None:
        """A superscript begins here."""
        self._raised_from.append(len(self._pieces))

    def lowered(self) -> None:
        """The superscript ends: a number becomes an exponent, since 10⁶ is not 106."""
        if not self._raised_from:
            return
        start = min(self._raised_from.pop(), len(self._pieces))
        content = "".join(self._pieces[start:]).strip()
        if _EXPONENT.fullmatch(content):
            self._pieces[start:] = [content.translate(_RAISED)]

    def taken(self) -> str:
        """The text so far, in NFC."""
        text = visible("".join(self._pieces))
        text = _AROUND_BREAK.sub("\n", _WHITESPACE.sub(" ", text)).strip()
        if "(" in text:
            text = _LEFT_IN_BRACKETS.sub("", _EMPTIED_BRACKETS.sub("", text)).strip()
        return text

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added yet."""
        return not self._pieces

    @property
    def all_bold(self) -> bool:
        """Whether there is text, and all of it in bold."""
        return self._n_bold > 0 and self._n_plain == 0


def visible(text: str) -> str:
    """Text without control and zero-width characters, in Unicode NFC."""
    return normalize("NFC", _INVISIBLE.sub("", text))


def escaped(text: str) -> str:
    """Text in which nothing is read as a tag or link, and no line as a block of another kind."""
    return "\n".join(map(_escaped_line, escaped_words(text).split("\n")))


def escaped_words(text: str) -> str:
    """Text in which nothing is read as a tag or link; for places that begin no line."""
    return _TAG.sub(r"\\<", _LINK.sub(r"]\\", text))


def _escaped_line(line: str) -> str:
    if _LINE_MARK.match(line) or (line and _RULE.issuperset(line)):
        return "\\" + line
    number = _LINE_NUMBER.match(line)
    return f"{number[0]}\\{line[number.end() :]}" if number else line
