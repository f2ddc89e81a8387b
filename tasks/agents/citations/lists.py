"""The lists at a report's end that say which page each citation number stands for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.agents.agent import Annotation, Source
from tasks.extraction.blocks import outline
from tasks.extraction.citations import find_markers
from tasks.extraction.urls import normalise_url

CITED = "## References"
UNCITED = "## Additional sources"
"""Both are headings by which the extractor knows a list."""
MAX_NUMBER = 999
"""Larger ones are not read as `[n]`; such sources get a footnote's name."""
MAX_TITLE_CHARS = 300

_NOT_IN_TITLE = str.maketrans({
    "[": "(", "]": ")", "【": "(", "】": ")", "<": None, ">": None, "|": "–", "`": "'", "\\": None,
})  # fmt: skip
_SCHEME = re.compile(r"(?:https?)?:/+", re.IGNORECASE)
_NUMBERED_LINE = re.compile(r"[ \t]{0,8}(\d{1,3})[.)][ \t]+(.+)")
_FENCES = re.compile(r"`{3,}|~{3,}")


@dataclass
class Listing:
    """Numbers for different pages, in the order in which they are asked for."""

    taken: frozenset[str]
    """Numbers that the text uses for something else."""
    known: Sequence[Source] = ()
    """Where a title may be found that an annotation does not give."""
    _entries: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Normalised URL to number and line."""
    _last: int = 0

    def __post_init__(self) -> None:
        self._titles: dict[str, str] = {}
        for source in self.known:
            if source.title and (key := normalise_url(source.url)):
                self._titles.setdefault(key, source.title)

    def number(self, source: Annotation | Source) -> int | None:
        """The number of the page of a source; None for what is no page of the web."""
        key = normalise_url(source.url)
        if key is None:
            return None
        if key not in self._entries:
            url = written(source.url)
            if url is None:
                return None
            self._last += 1
            while str(self._last) in self.taken:
                self._last += 1
            title = source.title or self._titles.get(key)
            self._entries[key] = (self._last, _line(self._last, url, title))
        return self._entries[key][0]

    def number_all(self, annotations: Sequence[Annotation], sources: Sequence[Source]) -> None:
        """Number what has no number yet: what is annotated first."""
        for annotation in annotations:
            self.number(annotation)
        for source in sources:
            self.number(source)

    def lines(self) -> list[str]:
        return [line for _, line in self._entries.values()]


def numbered_list(sources: Sequence[Source]) -> list[str]:
    """A list that the interface gives, in its order: the n-th source is `[n]`."""
    lines: list[str] = []
    for number, source in enumerate(sources[:MAX_NUMBER], start=1):
        if url := written(source.url):
            lines.append(_line(number, url, source.title))
    return lines


def list_at_the_end(text: str) -> list[str]:
    """A numbered list that ends a text under whatever heading, in our form."""
    lines: list[str] = []
    for line in reversed(text.splitlines()):
        match = _NUMBERED_LINE.fullmatch(line[:5000])
        if line.strip() and not match:
            break
        addresses = [marker.url for marker in find_markers(match[2]) if marker.url] if match else []
        if match and addresses and (url := written(addresses[0])):
            lines.append(_line(int(match[1]), url, None))
    return lines[::-1]


def with_lists(text: str, cited: Sequence[str], uncited: Sequence[str]) -> str:
    """The text with its lists, each where there is something in it.

    uncited: the numbers of these stand nowhere in the text.
    """
    lists = ((CITED, cited), (UNCITED, uncited))
    parts = ["\n".join([f"{heading}\n", *lines]) for heading, lines in lists if lines]
    return "\n\n".join([text + _end_of_code(text), *parts]) if parts else text


def in_text(number: int, *, glued: bool = False) -> str:
    """How a number stands in the text; glued: a bracket follows, with which `[n]` were a link."""
    if number > MAX_NUMBER:
        return f"[^s{number}]"
    return f"<sup>{number}</sup>" if glued else f"[{number}]"


def written(url: str) -> str | None:
    """An address as a list can hold it, so that it is read as the same page; None for none."""
    key = normalise_url(url)
    for candidate in (url.strip(), key) if key else ():
        found = find_markers(f"x. {candidate}")
        if len(found) == 1 and found[0].url == candidate and normalise_url(candidate) == key:
            return candidate
    return None


def _end_of_code(text: str) -> str:
    """What ends a code block that the text leaves open, so that a list after it is none of it."""
    fences = _FENCES.findall(text)
    longest = {c: max((len(f) for f in fences if f[0] == c), default=0) for c in "`~"}
    endings = [f"\n{character * length}" for character, length in longest.items() if length]
    for ending in ("", *endings) if endings else ():
        tried = f"{text}{ending}\n\n{CITED}\n\n"
        sections = outline(tried).references
        if sections and sections[-1][1] == len(tried):
            return ending
    return ""


def _line(number: int, url: str, title: str | None) -> str:
    lead = f"[{number}]" if number <= MAX_NUMBER else f"[^s{number}]:"
    shown = _title(title)
    stop = "" if shown.endswith((".", "!", "?", "…")) or not shown else "."
    return " ".join(filter(None, (lead, shown + stop, url)))


def _title(title: str | None) -> str:
    """A title from outside as words of one line: no links, no addresses, no Markdown brackets."""
    words = " ".join((title or "")[: 10 * MAX_TITLE_CHARS].split())
    words = "".join(c for c in words.translate(_NOT_IN_TITLE) if c.isprintable())
    words = _SCHEME.sub(" ", words)[:MAX_TITLE_CHARS].strip()
    return "" if words.isdecimal() else words
