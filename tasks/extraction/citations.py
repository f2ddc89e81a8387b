"""Citation markers in Markdown, in the forms that reports use, with their offsets.

`[1]` · `[1][2]` · `[1, 2]` · `[1-3]` · `\\[1\\]` · `[1](url)` · `[(1)](url)` · `[[1]](url)` ·
`[text](url)` · `[^1]` · `【1】` · `【1†source】` · `【url】` · `<sup>1</sup>` · `<url>` · bare
URLs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

_NUMBERS = r"\d{1,3}(?:\s?[,;–—‑-]\s?\^?\d{1,3})*"
_NUMBERED = re.compile(rf"\\?\[\^?({_NUMBERS})\\?\](?!\()")
_FOOTNOTE = re.compile(r"\[\^([A-Za-z][\w-]{0,40})\]")
_LENTICULAR = re.compile(
    r"【(?:(\d{1,3})(?::\d{1,4})?(?:†[^【】\n]{0,300})?|(https?://[^【】\s]{1,3000}))】"
)
_SUPERSCRIPT = re.compile(rf"<sup>\s?({_NUMBERS})\s?</sup>", re.IGNORECASE)
_URL = re.compile(r"<?https?://[^\s<>\[\]【】\"|]{4,4000}>?", re.IGNORECASE)
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_TARGET = re.compile(r"\(\s?<?(?=https?://)", re.IGNORECASE)
_TARGET_RUN = re.compile(r"[^\s\]<>]{1,4096}")
_TARGET_END = re.compile(r">?(?:\s{1,4}[\"'(][^\n\[\]]{0,300}?[\"')])?\s{0,4}\)")
_NUMERIC_LABEL = re.compile(rf"[\s\[(\\^]{{0,4}}({_NUMBERS})[\s\])\\^]{{0,4}}")
_BARE_NUMBER = re.compile(
    r"(?:[a-z]{4}\\?[.!?]|[.!?…][\"”’])[)*]{0,3} ?(?P<number>\d{1,3})(?=[ \t]{0,8}(?:[|\r\n]|\Z))"
)
_TRAILING_PUNCTUATION = ".,;:?'\"”’*"
MAX_RANGE = 40


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker; `text[start:end] == marker.text`."""

    start: int
    end: int
    text: str
    numbers: tuple[str, ...] = ()
    """Numbers (or footnote names) that it refers to, ranges expanded."""
    url: str | None = None
    """The address in the marker itself, as written."""
    label: tuple[int, int] | None = None
    """Span of a link's text, which may be part of the sentence; None for all other forms."""


def find_markers(text: str) -> list[Marker]:
    """Find all markers of a text, in order and without overlaps. Never raises; linear in time."""
    taken: list[Marker] = list(_find_links(text))
    for found in (
        _find_lenticular(text),
        _find_numbered(text),
        (Marker(*match.span(), match.group(), (match[1],)) for match in _FOOTNOTE.finditer(text)),
        _find_urls(text),
    ):
        taken = merge_markers(taken, found)
    return taken


def expand_numbers(numbers: str) -> tuple[str, ...]:
    """Expand `1, 3-5` to 1, 3, 4, 5. Of descending ranges or those over 40, keep the two ends."""
    found: list[str] = []
    for part in re.split(r"\s?[,;]\s?", numbers.replace("^", "")):
        low, dash, high = (piece.strip() for piece in re.split(r"([–—‑-])", part + "-", maxsplit=1))
        high = high.rstrip("-").strip()
        if dash and high and 0 < int(high) - int(low) <= MAX_RANGE:
            found += (str(n) for n in range(int(low), int(high) + 1))
        else:
            found += (str(int(n)) for n in (low, high) if n)
    return tuple(dict.fromkeys(found))


def find_bare_numbers(text: str, known: Set[str]) -> Iterator[Marker]:
    """Find citation numbers that lost their brackets: `… on one." 6` at the end of a line or cell.

    Only numbers in `known` (those of the report's reference list) count; a number within a sentence
    is never a citation.
    """
    for match in _BARE_NUMBER.finditer(text):
        number = str(int(match["number"]))
        if number in known:
            yield Marker(*match.span("number"), match["number"], (number,))


def trim_url(url: str) -> str:
    """Remove the punctuation of the surrounding sentence from the end of a bare URL."""
    while url and (
        url[-1] in _TRAILING_PUNCTUATION or (url[-1] == ")" and url.count("(") < url.count(")"))
    ):
        url = url[:-1]
    return url


def merge_markers(taken: Sequence[Marker], found: Iterable[Marker]) -> list[Marker]:
    """Merge both lists in order; of two overlapping markers keep the one in `taken`."""
    merged: list[Marker] = []
    rest = iter(taken)
    ahead = next(rest, None)
    last_end = 0
    for marker in found:
        while ahead is not None and ahead.start < marker.end:
            merged.append(ahead)
            last_end = max(last_end, ahead.end)
            ahead = next(rest, None)
        if marker.start >= last_end:
            merged.append(marker)
            last_end = marker.end
    if ahead is not None:
        merged.append(ahead)
    merged.extend(rest)
    return merged


def _find_links(text: str) -> Iterator[Marker]:
    """Yield Markdown links with an http(s) target, but no images."""
    open_brackets: list[int] = []
    last_end = 0
    for bracket in _BRACKET.finditer(text):
        at = bracket.start()
        if at < last_end:
            continue
        if bracket.group() == "[":
            open_brackets.append(at)
        elif bracket.group() == "]" and open_brackets:
            start = open_brackets.pop()
            target = _parse_target(text, at + 1)
            if target is None:
                continue
            url, end = target
            last_end = end
            open_brackets.clear()
            if start > 0 and text[start - 1] == "!":
                continue
            yield _build_link(text, start, at, end, url)


def _build_link(text: str, start: int, label_end: int, end: int, url: str) -> Marker:
    label = text[start + 1 : label_end]
    if numeric := _NUMERIC_LABEL.fullmatch(label[:80]):
        return Marker(start, end, text[start:end], expand_numbers(numeric[1]), url)
    return Marker(start, end, text[start:end], (), url, (start + 1, label_end))


def _parse_target(text: str, at: int) -> tuple[str, int] | None:
    """Return the URL of `(url)` or `(url "title")` at an offset, and where the target ends."""
    opening = _TARGET.match(text, at)
    run = _TARGET_RUN.match(text, opening.end()) if opening else None
    if run is None:
        return None
    depth = 0
    for offset, character in enumerate(run.group()):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                return run.group()[:offset], run.start() + offset + 1
    closing = _TARGET_END.match(text, run.end())
    return (run.group(), closing.end()) if closing else None


def _find_numbered(text: str) -> Iterator[Marker]:
    for match in sorted(
        [*_NUMBERED.finditer(text), *_SUPERSCRIPT.finditer(text)], key=lambda found: found.start()
    ):
        yield Marker(*match.span(), match.group(), expand_numbers(match[1]))


def _find_lenticular(text: str) -> Iterator[Marker]:
    for match in _LENTICULAR.finditer(text):
        numbers = (str(int(match[1])),) if match[1] else ()
        yield Marker(*match.span(), match.group(), numbers, match[2])


def _find_urls(text: str) -> Iterator[Marker]:
    for match in _URL.finditer(text):
        whole = match.group()
        if not whole.startswith("<"):
            whole = trim_url(whole.rstrip(">"))
        elif not whole.endswith(">"):
            continue
        yield Marker(match.start(), match.start() + len(whole), whole, (), whole.strip("<>"))
