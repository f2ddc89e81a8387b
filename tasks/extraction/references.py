"""Reference lists of a report: which page each citation number stands for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tasks.extraction.citations import find_markers
from tasks.extraction.urls import normalise_url

_LEAD = re.compile(
    r"[ \t>]*(?:[-*+•]\s+|\\?#\s*)?(?P<lead>"
    r"(?:\\?\[\^?[\w-]{1,40}\\?\]:\s*)"
    r"|(?:\\?\[\^?\d{1,3}\\?\]\s*)+(?!\()"
    r"|【\d{1,3}】\s*"
    r"|\^?\d{1,3}\\?[.)]?\s*(?:$|\s(?=\S)))"
)
_ENTRY_ANYWHERE = re.compile(
    r"[ \t>]*(?:[-*+•]\s+)?(?:\\?\[\^[\w-]{1,40}\\?\]:"
    r"|(?:\\?\[\d{1,3}\\?\]:?\s*)+(?!\().*?https?://"
    r"|\d{1,3}[.)]?\s+<?https?://\S+\s*$)"
)
"""A line that is an entry wherever it stands: it opens with its number and holds a URL."""
_NAME = re.compile(r"\^?([\w-]+)")
_BROKEN_URL = re.compile(r"(https?://[^\s\[\]()]{1,300})\[(\d{1,6})\] (?=[\w./?&=-])")
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class References:
    """What a report's reference lists say."""

    urls: dict[str, str]
    """Number (or footnote name) to the URL as written."""
    n_urls: int
    """URLs in the lists, numbered or not."""
    entries: tuple[tuple[int, int], ...]
    """Spans of entries that stand outside a reference section; they are no statements."""


@dataclass
class _Entry:
    numbers: tuple[str, ...]
    urls: list[str] = field(default_factory=list)
    trailing: tuple[str, ...] = ()
    two_lines: bool = False


def find_references(
    markdown: str, sections: Sequence[tuple[int, int]], cited: Iterable[str] = ()
) -> References:
    """Read the reference lists of a report.

    sections: spans of its reference sections. cited: the numbers its body uses; a list
    without numbers is numbered by order where it has exactly as many entries as are cited.
    """
    entries: list[_Entry] = []
    for start, end in sections:
        entries += _listed(line.group() for line in _LINE.finditer(markdown, start, end))
    gaps = zip(
        (0, *(end for _, end in sections)),
        (*(start for start, _ in sections), len(markdown)),
        strict=True,
    )
    outside = [
        line
        for start, end in gaps
        for line in _LINE.finditer(markdown, start, end)
        if _ENTRY_ANYWHERE.match(line.group()[:5000])
    ]
    entries += _listed(line.group() for line in outside)
    return References(
        urls=_resolved(entries, frozenset(cited)),
        n_urls=sum(len(entry.urls) for entry in entries),
        entries=tuple(line.span() for line in outside),
    )


def _listed(lines: Iterable[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    for line in lines:
        lead = _LEAD.match(line)
        body = line[lead.end() :] if lead else line
        numbers = _numbers(lead["lead"]) if lead else ()
        entry = _entry(numbers, body)
        waiting = entries[-1] if entries and not entries[-1].urls else None
        if not numbers and entry.urls and waiting and waiting.numbers:
            waiting.urls, waiting.two_lines = entry.urls, True
            waiting.trailing = entry.trailing
        elif numbers or entry.urls:
            entries.append(entry)
    return entries


def _entry(numbers: tuple[str, ...], body: str) -> _Entry:
    markers = find_markers(_BROKEN_URL.sub(r"\1.\2", body))
    urls = [m.url for m in markers if m.url and normalise_url(m.url)]
    if not numbers and markers and markers[0].numbers and markers[0].url:
        return _Entry(markers[0].numbers, urls)
    after_url = [m for m in markers if not m.url and m.numbers] if urls else []
    return _Entry(numbers, urls, tuple(n for m in after_url for n in m.numbers))


def _numbers(lead: str) -> tuple[str, ...]:
    names = _NAME.findall(lead)
    return tuple(str(int(name)) if name.isdecimal() else name for name in names)


def _resolved(entries: list[_Entry], cited: frozenset[str]) -> dict[str, str]:
    """Number to URL. Where lists disagree: the one whose URLs stand on their own lines first.

    Such a list is written by the agent's machinery from the numbers in the body, while the
    other was composed by the model with numbers of its own.
    """
    numbered = [entry for entry in entries if entry.numbers and entry.urls]
    by_machinery = [entry for entry in numbered if entry.two_lines]
    urls: dict[str, str] = {}
    for entry in (*by_machinery, *numbered):
        for number in entry.numbers:
            urls.setdefault(number, entry.urls[0])
    for entry in entries:
        for number in entry.trailing:
            urls.setdefault(number, entry.urls[0])
    if urls:
        return urls
    listed = [entry.urls[0] for entry in entries if entry.urls]
    top = max((int(n) for n in cited if n.isdecimal()), default=0)
    in_order = top > 0 and top == len(listed)
    return {str(n): url for n, url in enumerate(listed, start=1)} if in_order else {}
