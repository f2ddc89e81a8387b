"""Reference lists of a report: the page that each citation number stands for.

A list is known by what it is: a section under a reference heading, or a run of entries (number,
title, address) anywhere, if the report's markers use its numbers, or if it ends the report and
states nothing. Entries without numbers are a list only under such a heading, or at the end of a
report that cites their addresses.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter

from tasks.extraction.blocks import Outline
from tasks.extraction.citations import find_markers
from tasks.extraction.entries import Entry, parse_entries
from tasks.extraction.urls import normalise_url

_LINE = re.compile(r"[^\r\n]+")
MIN_USED = 0.5
"""The share of a run's numbers that the report must cite, or of its cited numbers that it must
explain."""
MIN_TITLES = 0.8
"""The share of a run's entries that must state nothing."""
MIN_LINKED = 0.3
"""From this share of entries with an address on, the others explain markers, too."""
MIN_ENTRIES = 2


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """A list and the text that it explains: what is above it, to the list before."""

    start: int
    end: int
    under_heading: bool
    urls: dict[str, str]
    """Number or label → address as written."""


@dataclass(frozen=True, slots=True)
class References:
    """The reference lists of a report."""

    lists: tuple[ReferenceList, ...] = ()
    n_urls: int = 0
    """Entries with an address, numbered or not."""
    entries: tuple[tuple[int, int], ...] = ()
    """Spans of entries outside a reference section; they are no statements."""
    keys: frozenset[str] = frozenset()
    """All numbers and labels that they explain, also by entries without an address."""
    explaining: Mapping[str, Sequence[ReferenceList]] = field(default_factory=dict)
    """The lists that have an address for a number or label; under headings, if there are such."""

    def holds(self, at: int) -> bool:
        """Whether an offset is within an entry outside a reference section."""
        before = bisect_right(self.entries, at, key=itemgetter(0)) - 1
        return before >= 0 and at < self.entries[before][1]

    def find(self, key: str, at: int = 0) -> str | None:
        """Return the address of the entry that a marker at an offset means; None if there is none.

        Where several lists have the key, as with one below each chapter, it is the next one.
        """
        known = self.explaining.get(key, ())
        next_one = bisect_right(known, at, key=attrgetter("end"))
        return known[min(next_one, len(known) - 1)].urls[key] if known else None


@dataclass
class _FoundList:
    """A section's entries, or a run of entries elsewhere."""

    start: int
    end: int
    under_heading: bool
    entries: list[Entry]

    @property
    def keys(self) -> set[str]:
        return {key for entry in self.entries if entry.urls for key in entry.keys}


def find_references(markdown: str, parts: Outline, cited: Collection[str] = ()) -> References:
    """Parse the reference lists of a report.

    Args:
        parts: Its outline.
        cited: The numbers that its body cites unmistakably. A list without numbers is numbered by
            order if it has exactly as many entries as the highest of them.
    """
    headed = [
        _FoundList(start, end, True, parse_entries(_list_lines(markdown, start, end, parts)))
        for start, end in parts.references
    ]
    runs = _choose_runs(markdown, parts, headed, frozenset(cited))
    lists = sorted([*headed, *runs], key=lambda found: found.start)
    entries = [entry for found in lists for entry in found.entries if entry.urls]
    mapped = [
        ReferenceList(found.start, found.end, found.under_heading, _map_keys(found.entries, cited))
        for found in _join_lists(lists, parts)
    ]
    return References(
        lists=tuple(mapped),
        n_urls=len([entry for entry in entries if entry.keys] or entries),
        entries=tuple((entry.start, entry.end) for run in runs for entry in run.entries),
        keys=frozenset(
            key
            for found in lists
            if len([entry for entry in found.entries if entry.urls])
            >= MIN_LINKED * len(found.entries)
            for entry in found.entries
            for key in entry.keys
        ).union(*(found.urls for found in mapped)),
        explaining=_index_lists(mapped),
    )


def _index_lists(lists: Sequence[ReferenceList]) -> dict[str, list[ReferenceList]]:
    by_key: dict[str, list[ReferenceList]] = defaultdict(list)
    for found in lists:
        for key in found.urls:
            by_key[key].append(found)
    return {key: [x for x in held if x.under_heading] or held for key, held in by_key.items()}


def _list_lines(markdown: str, start: int, end: int, parts: Outline) -> list[tuple[int, str]]:
    return [
        (match.start(), match.group())
        for match in _LINE.finditer(markdown, start, end)
        if not match.group().isspace() and not parts.is_code(match.start())
    ]


def _choose_runs(
    markdown: str, parts: Outline, headed: Sequence[_FoundList], cited: frozenset[str]
) -> list[_FoundList]:
    """Return the runs of entries outside the sections that are reference lists."""
    starts = [0, *(found.end for found in headed)]
    ends = [*(found.start for found in headed), len(markdown)]
    runs = [
        run
        for start, end in zip(starts, ends, strict=True)
        for run in _find_runs(_list_lines(markdown, start, end, parts))
    ]
    if not runs:
        return []
    explained = {key for found in headed for key in found.keys}
    explained |= {
        key for run in runs for entry in run if entry.sure and entry.urls for key in entry.keys
    }
    # Where the last block ends that is in no section and no run of entries.
    spans = _Spans((run[0].start, run[-1].end) for run in runs)
    blocks = (block for block in parts.blocks if not block.apparatus)
    body_ends = max((block.end for block in blocks if block.start not in spans), default=0)
    report = _Citing(markdown, runs, cited - explained)
    kept = []
    for run in runs:
        is_list = report.uses(run) or (run[0].start >= body_ends and report.ends_with(run))
        if found := run if is_list else [entry for entry in run if entry.sure]:
            kept.append(_FoundList(found[0].start, found[-1].end, False, found))
    return kept


def _find_runs(lines: Sequence[tuple[int, str]]) -> Iterator[list[Entry]]:
    """Yield the runs of lines that are numbered and name an address, or are nothing but links."""
    run: list[Entry] = []
    known: set[str] = set()
    for entry in _join_titles([(line, parse_entries([line])) for line in lines]):
        below = bool(run) and bool(run[0].keys) and entry is not None and not entry.keys
        if below and entry is not None and entry.is_link:
            run[-1].end = entry.end  # the address once more, below its title
            continue
        fits = entry is not None and (entry.keys or entry.is_link)
        repeated = entry is not None and not known.isdisjoint(entry.keys)
        if run and (not fits or repeated or (entry is not None and entry.keys and not run[0].keys)):
            yield run
            run, known = [], set()
        if fits and entry is not None:
            run.append(entry)
            known.update(entry.keys[:1])
    if run:
        yield run


def _join_titles(lines: list[tuple[tuple[int, str], list[Entry]]]) -> Iterator[Entry | None]:
    """Yield the entries, each title with the address on one of the two lines below it; None for a
    line that is no entry."""
    at = 0
    while at < len(lines):
        entries = lines[at][1]
        if entries and entries[-1].keys and not entries[-1].urls:
            below = [parsed for _, parsed in lines[at + 1 : at + 3]]
            taken = next((n for n, e in enumerate(below, 1) if e and e[0].is_link), 0)
            if not taken or any(e and e[0].keys for e in below[:taken]):
                yield entries[-1] if entries[-1].sure else None
                at += 1
                continue
            entries = parse_entries([line for line, _ in lines[at : at + taken + 1]])
            at += taken
        if entries:
            yield from entries
        else:
            yield None
        at += 1


class _Spans:
    """Spans of a text, in order and without overlaps."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans = list(spans)
        self._starts = [start for start, _ in self._spans]

    def __contains__(self, at: int) -> bool:
        place = bisect_right(self._starts, at) - 1
        return place >= 0 and at < self._spans[place][1]


class _Citing:
    """What a report cites, by which its runs of entries are told from lists of statements."""

    def __init__(
        self, markdown: str, runs: Sequence[Sequence[Entry]], unexplained: frozenset[str]
    ) -> None:
        keys = {key for run in runs for entry in run for key in entry.keys}
        spans = _Spans((run[0].start, run[-1].end) for run in runs)
        body = [m for m in find_markers(markdown, keys) if m.start not in spans]
        self._used = {key for marker in body if not marker.url for key in marker.numbers}
        self._pages = {normalise_url(marker.url) for marker in body if marker.url}
        self._unexplained = unexplained

    def uses(self, run: Sequence[Entry]) -> bool:
        """Whether the report cites by the numbers of a run, and no other list explains them."""
        keys = {key for entry in run for key in entry.keys}
        used = keys & self._used
        if not used or len(used) < MIN_USED * min(len(keys), len(self._used)):
            return False
        return bool(used & self._unexplained) or (
            not self._unexplained and self._states_nothing(run) and len(used) > 1
        )

    def ends_with(self, run: Sequence[Entry]) -> bool:
        """Whether a run at the end of the report is its list."""
        if run[0].keys:
            used = {key for entry in run for key in entry.keys} & self._used
            return bool(used or len(run) >= MIN_ENTRIES) and self._states_nothing(run)
        cited = sum(normalise_url(entry.urls[0]) in self._pages for entry in run if entry.urls)
        return len(run) >= MIN_ENTRIES and cited >= MIN_USED * len(run)

    @staticmethod
    def _states_nothing(run: Sequence[Entry]) -> bool:
        return sum(not entry.states for entry in run) >= MIN_TITLES * len(run)


def _join_lists(lists: Sequence[_FoundList], parts: Outline) -> Iterator[_FoundList]:
    """Yield the lists, those without statements between them as one."""
    joined: _FoundList | None = None
    body = sorted(block.start for block in parts.blocks if not block.apparatus)
    for found in lists:
        if joined and bisect_left(body, joined.end) == bisect_left(body, found.start):
            headed = joined.under_heading or found.under_heading
            joined.entries += found.entries
            joined = _FoundList(joined.start, found.end, headed, joined.entries)
            continue
        if joined:
            yield joined
        joined = _FoundList(found.start, found.end, found.under_heading, [*found.entries])
    if joined:
        yield joined


def _map_keys(entries: Sequence[Entry], cited: Collection[str]) -> dict[str, str]:
    """Map keys to addresses. If lists disagree, one with addresses on their own lines comes first.

    Such a list is generated by the agent's software from the numbers in the body, while the other
    was written by the model with numbers of its own.
    """
    numbered = [entry for entry in entries if entry.keys and entry.urls]
    generated = [entry for entry in numbered if entry.two_lines]
    urls: dict[str, str] = {}
    for entry in (*generated, *numbered):
        for key in entry.keys:
            urls.setdefault(key, entry.urls[0])
    for entry in entries:
        for key in entry.trailing:
            urls.setdefault(key, entry.urls[0])
    if urls:
        return urls
    listed = [entry.urls[0] for entry in entries if entry.urls]
    top = max((int(key) for key in cited if key.isdecimal()), default=0)
    in_order = top > 0 and top == len(listed)
    return {str(n): url for n, url in enumerate(listed, start=1)} if in_order else {}
