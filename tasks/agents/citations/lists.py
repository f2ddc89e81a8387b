"""Reference lists at a report's end, which map citation numbers to pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.agents.agent import Annotation, ReportSource
from tasks.extraction.blocks import parse_outline
from tasks.extraction.citations import find_markers
from tasks.extraction.urls import normalise_url

REFERENCES_HEADING = "## References"
ADDITIONAL_HEADING = "## Additional sources"
"""The extractor recognises a list by either heading."""
MAX_NUMBER = 999
"""The largest number that is read as `[n]`; other sources become footnotes."""
MAX_TITLE_CHARS = 300

_NOT_IN_TITLE = str.maketrans({
    "[": "(", "]": ")", "【": "(", "】": ")", "<": None, ">": None, "|": "–", "`": "'", "\\": None,
})  # fmt: skip
_SCHEME = re.compile(r"(?:https?)?:/+", re.IGNORECASE)
_NUMBERED_LINE = re.compile(r"[ \t]{0,8}(\d{1,3})[.)][ \t]+(.+)")
_FENCES = re.compile(r"`{3,}|~{3,}")


@dataclass
class SourceList:
    """A list that numbers pages in the order in which they are added."""

    reserved: frozenset[str]
    """Numbers that the text uses for something else."""
    known: Sequence[ReportSource] = ()
    """Sources whose titles are used where an annotation has none."""
    _entries: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Normalised URL to number and line."""
    _last: int = 0

    def __post_init__(self) -> None:
        self._titles: dict[str, str] = {}
        for source in self.known:
            if source.title and (key := normalise_url(source.url)):
                self._titles.setdefault(key, source.title)

    def number(self, source: Annotation | ReportSource) -> int | None:
        """Return the number of a source's page, adding it if new; None if it is no web page."""
        key = normalise_url(source.url)
        if key is None:
            return None
        if key not in self._entries:
            url = find_readable_url(source.url)
            if url is None:
                return None
            self._last += 1
            while str(self._last) in self.reserved:
                self._last += 1
            title = source.title or self._titles.get(key)
            self._entries[key] = (self._last, _render_entry(self._last, url, title))
        return self._entries[key][0]

    def number_all(
        self, annotations: Sequence[Annotation], sources: Sequence[ReportSource]
    ) -> None:
        """Add all pages that are not in the list: annotations first, then sources."""
        for annotation in annotations:
            self.number(annotation)
        for source in sources:
            self.number(source)

    def lines(self) -> list[str]:
        return [line for _, line in self._entries.values()]


def render_sources(sources: Sequence[ReportSource]) -> list[str]:
    """Render the list that the interface returned, in its order: the n-th source is `[n]`."""
    lines: list[str] = []
    for number, source in enumerate(sources[:MAX_NUMBER], start=1):
        if url := find_readable_url(source.url):
            lines.append(_render_entry(number, url, source.title))
    return lines


def find_final_list(text: str) -> list[str]:
    """Return the numbered list that ends a text, under any heading, in our form."""
    lines: list[str] = []
    for line in reversed(text.splitlines()):
        match = _NUMBERED_LINE.fullmatch(line[:5000])
        if line.strip() and not match:
            break
        addresses = [marker.url for marker in find_markers(match[2]) if marker.url] if match else []
        if match and addresses and (url := find_readable_url(addresses[0])):
            lines.append(_render_entry(int(match[1]), url, None))
    return lines[::-1]


def append_lists(text: str, cited: Sequence[str], uncited: Sequence[str]) -> str:
    """Append the lists that are not empty to the text.

    uncited: entries whose numbers do not occur in the text.
    """
    lists = ((REFERENCES_HEADING, cited), (ADDITIONAL_HEADING, uncited))
    parts = ["\n".join([f"{heading}\n", *lines]) for heading, lines in lists if lines]
    return "\n\n".join([text + _close_code_block(text), *parts]) if parts else text


def render_marker(number: int, *, before_bracket: bool = False) -> str:
    """Render a citation number. before_bracket: `(` follows, with which `[n]` would be a link."""
    if number > MAX_NUMBER:
        return f"[^s{number}]"
    return f"<sup>{number}</sup>" if before_bracket else f"[{number}]"


def find_readable_url(url: str) -> str | None:
    """Return the address in a form that is read back from a list as the same page, or None."""
    key = normalise_url(url)
    for candidate in (url.strip(), key) if key else ():
        found = find_markers(f"x. {candidate}")
        if len(found) == 1 and found[0].url == candidate and normalise_url(candidate) == key:
            return candidate
    return None


def _close_code_block(text: str) -> str:
    """Return what closes an open code block, so that a list after it is read as a list."""
    fences = _FENCES.findall(text)
    longest = {c: max((len(f) for f in fences if f[0] == c), default=0) for c in "`~"}
    endings = [f"\n{character * length}" for character, length in longest.items() if length]
    for ending in ("", *endings) if endings else ():
        candidate = f"{text}{ending}\n\n{REFERENCES_HEADING}\n\n"
        sections = parse_outline(candidate).references
        if sections and sections[-1][1] == len(candidate):
            return ending
    return ""


def _render_entry(number: int, url: str, title: str | None) -> str:
    lead = f"[{number}]" if number <= MAX_NUMBER else f"[^s{number}]:"
    words = _clean_title(title)
    stop = "" if words.endswith((".", "!", "?", "…")) or not words else "."
    return " ".join(filter(None, (lead, words + stop, url)))


def _clean_title(title: str | None) -> str:
    """Reduce a foreign title to one line without links, addresses and Markdown brackets."""
    words = " ".join((title or "")[: 10 * MAX_TITLE_CHARS].split())
    words = "".join(c for c in words.translate(_NOT_IN_TITLE) if c.isprintable())
    words = _SCHEME.sub(" ", words)[:MAX_TITLE_CHARS].strip()
    return "" if words.isdecimal() else words
