"""Citation markers in Markdown, with their offsets (for their forms see `marker_forms`)."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tasks.extraction.links import Link, find_addresses, find_html_links, find_links
from tasks.extraction.marker_forms import MARKER_FORMS, NUMBERS, WORDS, MarkerForm, expand_numbers

_NUMERIC_LABEL = re.compile(
    rf"[\s\[(\\^*_]{{0,6}}({NUMBERS}(?:\\?\]\s?\\?\[{NUMBERS})*)[\s\])\\^*_]{{0,6}}", re.IGNORECASE
)
_SOURCE_LABEL = re.compile(
    rf"[\s\[(*_]{{0,4}}(?:{WORDS}(?:\s?#?\d{{0,3}}|\s?[:：].{{0,200}})|sources?\b.{{0,200}}|links?|"
    r"oai_citation.{0,200}|(?:https?://)?(?:[\w-]{1,63}\.){1,5}[a-z]{2,12}(?:/\S{0,300})?(?:\s?\+\d{1,2})?)"
    r"[\s\])*_]{0,4}",
    re.IGNORECASE,
)
LINK_END = re.compile(
    r"[\s.;,)\]*_]*(?=$|[A-Z\"“‘'(\[【0-9|<#])|[ .;,)\]）】*_]{0,9}(?:[。！？；）】：]|:?\s*\n)"
)
_GOVERNS = re.compile(
    r"\b(?:per|by|in|at|from|see|to|of|on|as|via|with|for|the|an?|and|or|is|are|em|n[ao]|d[aeo]|por|"
    r"para|e|en|y|del?|la|le|dans|et|von|bei|im|und|der|die|das)\W*$",
    re.IGNORECASE,
)
"""A word after which a link is one of the sentence's words."""
_BEHIND_SOURCE = re.compile(r"\s*(?:[.,;:)\]|。，；）]|$|\[|\(|<a\b)", re.MULTILINE)
_REFERENCE_LINK = re.compile(r"(?<!\\)\[([^\[\]\n]{1,300})\] ?\[([\w.:-]{1,40})\]")
_BARE_NUMBER = re.compile(
    r"(?:[a-z]{4}\\?[.!?]|[.!?…][\"”’])[)*]{0,3} ?(?P<number>\d{1,3})(?=[ \t]{0,8}(?:[|\r\n]|\Z))"
)
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,500}(?<!`)\1(?!`)")
_LEFTOVER = re.compile(
    r"\[/?cite(?:_start|_end|:\s?)?\]|\[end_cite\]|</(?:cite|ref|grok:render)>", re.I
)
"""Marks of agents that name no source."""
BARE_SHARE = 5
"""Numbers without any sign count only if they are so many times as many as other markers."""
MIN_LINKS = 3
MIN_AT_THE_END = 0.9
"""From this share of links at the ends of sentences on, the words of all such links are titles."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker; `text[start:end] == marker.text`."""

    start: int
    end: int
    text: str
    numbers: tuple[str, ...] = ()
    """Numbers (or labels) that it refers to, ranges expanded."""
    url: str | None = None
    """The address in the marker itself, as written."""
    label: tuple[int, int] | None = None
    """Span of a link's text, which may be part of the sentence; None for all other forms."""

    @property
    def cites(self) -> bool:
        """Whether it names a source; links within a report and marks around citations do not."""
        return bool(self.numbers or self.url)


def find_markers(
    text: str, entries: Collection[str] = (), lists: Sequence[tuple[int, int]] = ()
) -> list[Marker]:
    """Find all markers of a text, in order and without overlaps. Never raises; linear in time.

    Args:
        entries: The keys of the report's reference lists; without them, only unmistakable forms are
            found.
        lists: The spans of these lists, which do not tell how the report cites.
    """
    links = [_build_link(text, link) for link in find_links(text)]
    links = merge_markers(links, (_build_link(text, link) for link in find_html_links(text)))
    taken = merge_markers(_drop_titles(text, links), _find_reference_links(text, entries))
    certain = [form for form in MARKER_FORMS if form.certainty == "unmistakable"]
    for form in certain:
        taken = merge_markers(taken, _find_form(text, form, entries))
    leftovers = (Marker(*match.span(), match.group()) for match in _LEFTOVER.finditer(text))
    addresses = (
        Marker(link.start, link.end, text[link.start : link.end], (), link.url)
        for link in find_addresses(text)
    )
    taken = merge_markers(merge_markers(taken, leftovers), addresses)
    if entries:
        taken = _add_uncertain(text, taken, entries, lists)
    return _leave_code(text, taken)


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


def _find_form(text: str, form: MarkerForm, entries: Collection[str]) -> Iterator[Marker]:
    for match in form.find(text, entries):
        yield Marker(match.start, match.end, text[match.start : match.end], match.keys)


def _add_uncertain(
    text: str,
    taken: list[Marker],
    entries: Collection[str],
    lists: Sequence[tuple[int, int]],
) -> list[Marker]:
    """Add the markers that the list explains.

    A number without any sign around it, or one that may be an exponent, counts only in a report
    that does not cite by others.
    """
    body = _leave_lists(taken, lists)
    n_links = sum(bool(marker.url) for marker in body)
    n_certain = sum(any(key in entries for key in marker.numbers) for marker in body)
    for form in MARKER_FORMS:
        if form.certainty == "needs an entry":
            found = merge_markers((), _find_form(text, form, entries))
            rivals = BARE_SHARE if form.least > 1 else 1
            others = max(n_links, n_certain * rivals) if form.is_bare or form.raised else 0
            if len(found) >= form.least and len(found) > others:
                taken = merge_markers(taken, found)
                n_links = 0 if form.is_bare else n_links  # it cites by numbers, in other places too
    if any(marker.numbers and not marker.url for marker in _leave_lists(taken, lists)):
        taken = merge_markers(taken, _find_bare_numbers(text, entries))
    return taken


def _leave_lists(markers: list[Marker], lists: Sequence[tuple[int, int]]) -> list[Marker]:
    """Leave out the markers within lists; both are in order."""
    kept, at = [], 0
    for marker in markers:
        while at < len(lists) and lists[at][1] <= marker.start:
            at += 1
        if at == len(lists) or marker.start < lists[at][0]:
            kept.append(marker)
    return kept


def _find_bare_numbers(text: str, entries: Collection[str]) -> Iterator[Marker]:
    """Find numbers that lost their brackets at the end of a line or cell: `… on one." 6`."""
    for match in _BARE_NUMBER.finditer(text):
        number = str(int(match["number"]))
        if number in entries:
            yield Marker(*match.span("number"), match["number"], (number,))


def _find_reference_links(text: str, entries: Collection[str]) -> Iterator[Marker]:
    """Find links whose address stands in the list: `[words][1]`."""
    for match in _REFERENCE_LINK.finditer(text) if entries else ():
        if match[2] in entries and not _NUMERIC_LABEL.fullmatch(match[1]):
            yield Marker(*match.span(), match.group(), (match[2],), None, match.span(1))


def _build_link(text: str, link: Link) -> Marker:
    whole, label = text[link.start : link.end], link.label
    words = text[label[0] : label[1]] if label else ""
    if numeric := _NUMERIC_LABEL.fullmatch(words[:80]):
        return Marker(link.start, link.end, whole, expand_numbers(numeric[1]), link.url)
    if link.url and _SOURCE_LABEL.fullmatch(words[:600]) and _BEHIND_SOURCE.match(text, link.end):
        return Marker(link.start, link.end, whole, (), link.url)
    return Marker(link.start, link.end, whole, (), link.url, label)


def _drop_titles(text: str, links: list[Marker]) -> list[Marker]:
    """Take the words of links for titles, not for words of their sentences, in a report where
    nearly all links end a sentence."""
    outward = [link for link in links if link.url]
    at_end = [
        link
        for link in outward
        if LINK_END.match(text[link.end : link.end + 40])
        and not _GOVERNS.search(text[max(0, link.start - 20) : link.start])
    ]
    if len(at_end) < max(MIN_LINKS, MIN_AT_THE_END * len(outward)):
        return links
    ends = set(at_end)
    return [replace(link, label=None) if link in ends else link for link in links]


def _leave_code(text: str, markers: list[Marker]) -> list[Marker]:
    """Leave out what stands in code; an address there is one, a number is an index."""
    spans = [match.span() for match in _CODE.finditer(text)]
    kept, at = [], 0
    for marker in markers:
        while at < len(spans) and spans[at][1] <= marker.start:
            at += 1
        within = at < len(spans) and spans[at][0] <= marker.start and marker.end <= spans[at][1]
        if marker.url or not within:
            kept.append(marker)
    return kept
