"""Entries of reference lists: what number or label a line begins with, and the page it names."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.languages import count_words
from tasks.extraction.links import find_addresses
from tasks.extraction.marker_forms import RAISED_DIGITS, WORDS
from tasks.extraction.urls import normalise_url

_BEFORE = r"[ \t>|]*(?:<(?!https?:)[^<>]{1,200}>\s*)*(?:[-*+•·]\s+|\\?#\s*)?(?:\*\*|__)?"
_DEFINITION = r"\\?\[\^?(?:[\w.:+-]{1,40})\^?\\?\]:\s*"
_BRACKETED = (
    rf"(?:\\?\[\^?(?:{WORDS}\s?[:#]?\s?)?\d{{1,3}}\^?\\?\](?!\()[:.]?\s*)+|[【［〔]\d{{1,4}}(?::\d{{1,4}})?"
    r"(?:†[^【】\n]{0,99})?[】］〕]\s*|\\?\[(?:turn\d+[a-z]+\d+|[a-z_]{2,20}:\d{1,4})\\?\](?!\()[:.]?\s*"
)
_LABELLED = r"\\?\[[^\W_][\w.:+-]{0,40}\\?\](?!\()[:.]?\s*"
_PLAIN = (
    rf"{WORDS}\s?#?\d{{1,3}}\s?[:：.)]\s*|\(\d{{1,3}}\)\s+|[⁰¹²³⁴-⁹]{{1,3}}\s*|<sup>\d{{1,3}}</sup>\s*|"
    r"\^?\d{1,3}\^?(?:\s?\|\s?|\\?[.)、．:：]?\s*(?:$|\*{0,2}\s(?=\S))|[、．]|\\?[.)](?=\[|<?https?:))"
)
_LEAD = re.compile(
    rf"{_BEFORE}(?:(?P<sure>{_DEFINITION}|{_BRACKETED})|(?P<plain>{_PLAIN})|(?P<label>{_LABELLED}))",
    re.IGNORECASE,
)
_KEY = re.compile(r"\d{1,4}:\d{1,4}|[^\W_][\w.:+-]*[^\W]|[^\W_]")
_WORD_BEFORE = re.compile(rf"{WORDS}\s?[:#]?\s?(?=\d)", re.IGNORECASE)
_BROKEN_URL = re.compile(r"(https?://[^\s\[\]()]{1,300})\[(\d{1,6})\] (?=[\w./?&=-])")
_NEXT_ON_LINE = re.compile(r"(?<=\s)(?=\\?\[\d{1,3}\\?\]\s)")
_NUMBERED_TITLE = re.compile(r"\s?\\?\[?(\d{1,3})\\?[.)\]、:]\s?(?!\d)")
_SHOWN_ADDRESS = re.compile(r"(?<!\]\()https?://\S+\s*$")
_ADDRESS = re.compile(r"://|www\.|doi:", re.IGNORECASE)
MAX_TITLE_WORDS = 40
MAX_WORDS_BEHIND = 12
MAX_WORDS_BESIDE_LINK = 4


@dataclass
class Entry:
    """One entry of a list, or a line that may be one."""

    start: int
    end: int
    keys: tuple[str, ...]
    """Numbers or labels by which markers name it."""
    urls: list[str] = field(default_factory=list)
    trailing: tuple[str, ...] = ()
    """Numbers behind its address."""
    two_lines: bool = False
    """Whether its address stands on a line of its own."""
    sure: bool = False
    """Whether it begins as only entries do: `[1]` and an address, `[^1]:`, or a linked number whose
    address it says once more."""
    states: bool = False
    """Whether it says more than a title."""
    is_link: bool = False
    """Whether it is nothing but a link or an address."""


def parse_entries(lines: Iterable[tuple[int, str]]) -> list[Entry]:
    """Parse the lines (offset and text) of a list; an address below its title belongs to it."""
    entries: list[Entry] = []
    for start, line in lines:
        for entry in _parse_line(start, line):
            last = entries[-1] if entries else None
            if not entry.keys and entry.urls and last and last.keys and not last.urls:
                last.urls, last.two_lines, last.end = entry.urls, True, entry.end
                last.trailing = entry.trailing
            elif entry.keys or entry.urls:
                entries.append(entry)
    return entries


def looks_like_entry(text: str, start: int, end: int) -> bool:
    """Whether a block is a number with a title and an address that a reader sees."""
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    line = text[line_start:end]
    entries = parse_entries([(line_start, line)])
    return bool(entries) and all(
        entry.keys and entry.urls and not entry.states and _SHOWN_ADDRESS.search(line)
        for entry in entries
    )


def _parse_line(start: int, line: str) -> Iterator[Entry]:
    """Parse a line; one that holds several numbered addresses is several entries."""
    pieces = _NEXT_ON_LINE.split(line)
    if len(pieces) > 1 and all("http" in piece for piece in pieces if piece.strip()):
        for piece in pieces:
            yield _parse_entry(start, piece)
            start += len(piece)
    else:
        yield _parse_entry(start, line)


def _parse_entry(start: int, line: str) -> Entry:
    end = start + len(line)
    lead = _LEAD.match(line[:5000])
    body = _BROKEN_URL.sub(r"\1.\2", line[lead.end() :] if lead else line)
    has_address = _ADDRESS.search(body) is not None
    if not has_address and not lead:
        return Entry(start, end, ())
    markers = find_markers(body) if has_address else []
    urls = [marker.url for marker in markers if marker.url and normalise_url(marker.url)]
    if has_address and not urls:
        urls = [link.url for link in find_addresses(body, without_scheme=True) if link.url]
    keys = _read_keys(lead) if lead and not (lead["label"] and not urls) else ()
    linked, n_labels = _find_linked_numbers(body, markers) if not keys else ((), 0)
    keys = keys or linked
    numbers = [marker for marker in markers if marker.numbers and not marker.url and urls]
    trailing = () if linked else tuple(key for marker in numbers for key in marker.numbers)
    before, behind = _split_words(body, markers)
    if n_labels and n_labels == len(markers):
        before, behind = before + behind, 0  # the title stands behind its linked numbers
    sure = bool(lead and lead["sure"] and (urls or lead["sure"].rstrip().endswith(":")))
    repeats = 0 < n_labels < len(markers) and len({normalise_url(url) for url in urls}) == 1
    return Entry(
        start,
        end,
        keys,
        urls,
        trailing,
        sure=sure or repeats,
        states=before > MAX_TITLE_WORDS
        or behind > MAX_WORDS_BEHIND
        or (before > MAX_WORDS_BESIDE_LINK and not linked and _ends_in_citation(body, markers)),
        is_link=bool(urls) and before + behind <= MAX_WORDS_BESIDE_LINK,
    )


def _find_linked_numbers(body: str, markers: list[Marker]) -> tuple[tuple[str, ...], int]:
    """Return the numbers that an entry begins with and that are part of links to one page, and how
    many links they are: `[[1]](url) [[4]](url) Title`, `[1. Title](url)`."""
    keys: list[str] = []
    at = n_labels = 0
    page = normalise_url(markers[0].url or "") if markers else None
    for marker in markers:
        other_page = not marker.url or normalise_url(marker.url) != page
        if other_page or body[at : marker.start].strip(" \t>*-+•|"):
            break
        titled = _NUMBERED_TITLE.match(body, *marker.label) if marker.label and not keys else None
        if titled:
            return (str(int(titled[1])),), 0
        if not marker.numbers:
            break
        keys += marker.numbers
        at, n_labels = marker.end, n_labels + 1
    return tuple(keys), n_labels


def _read_keys(lead: re.Match[str]) -> tuple[str, ...]:
    words = (lead["sure"] or lead["plain"] or lead["label"]).translate(RAISED_DIGITS)
    words = re.sub(r"†[^】\]]*|</?sup>", "", _WORD_BEFORE.sub("", words))
    keys = _KEY.findall(words)
    return tuple(str(int(key)) if key.isdecimal() else key for key in keys)


def _ends_in_citation(body: str, markers: list[Marker]) -> bool:
    """Whether a line's last link is a citation of its words: a number, or in parentheses."""
    last = markers[-1] if markers else None
    if last is None or not last.url:
        return False
    numbered = bool(last.numbers) and last.text.startswith("[")
    return numbered or body[: last.start].rstrip().endswith(("(", "（"))


def _split_words(body: str, markers: list[Marker]) -> tuple[int, int]:
    """Return how many words stand before an entry's last address, without those of links, and how
    many behind it."""
    at, before = 0, 0
    for marker in markers:
        before += count_words(body[at : marker.start])
        at = marker.end
    return before, count_words(body[at:])
