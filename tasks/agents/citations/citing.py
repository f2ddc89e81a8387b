"""One form of citations for what all agents write: `[n]` in the text, a list at its end.

Agents cite in three ways: places marked beside the text (annotations), numbers in the text with a
list beside it, or all in the text itself. The extractor reads the last; this turns the others into
it. Words are never changed: what is put in can be taken out again.

    a report                          becomes
    annotation after "35–23"          … 35–23[1] …      and `[1] Title. URL` in `## References`
    annotation over ([title](url))    … 35–23[1] …      and the same
    `[2]` and a list beside it        stays             and the list, in its order
    `[cite: 1, 2]` (Gemini)           `[1][2]`          and its own list stays what it is
    sources nobody cites in the text  stays             and `## Additional sources`
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.agents.agent import Annotation, Answer
from tasks.agents.citations.lists import (
    Listing,
    in_text,
    list_at_the_end,
    numbered_list,
    with_lists,
    written,
)
from tasks.agents.citations.places import Ground
from tasks.extraction.citations import Marker
from tasks.extraction.prose import left_of, right_of
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import AssignmentKind

_CITE = re.compile(
    r"\[cite:\s{0,3}(\d{1,3}(?:\s{0,3},\s{0,3}\d{1,3}){0,40})\s{0,3}\]|\[cite_start\]"
)
_CLOSERS = " \t*_`"
_STOPS = (".", "!", "?", "…", '"', "”", "’", "]", ")", ";")


def report_markdown(
    answer: Answer,
    *,
    kind: AssignmentKind,
    citations: Literal["annotations", "numbered", "as_written"] | None,
) -> str:
    """The text of an answer as the pipeline reads it. Never raises, whatever the answer.

    kind: answers to questions (`find_claims`) are left exactly as they are. citations: how the
    agent cites; where the answer has none of that kind, and for None, what it has: annotations
    with a place, else numbers with a list beside the text, else as written.
    """
    if kind == "find_claims":
        return answer.text
    text, annotations = _plain_numbers(answer.text, answer.annotations)
    if citations == "as_written":
        return text
    ground = Ground(text)
    if ground.has_own_list:
        return text
    if citations != "numbered":
        cited = _annotated(ground, annotations, answer)
        if cited is not None:
            return cited
    if ground.is_numbered:
        return with_lists(text, numbered_list(answer.sources) or list_at_the_end(text), [])
    listing = Listing(ground.numbers, answer.sources)
    listing.number_all(annotations, answer.sources)
    return with_lists(text, [], listing.lines())


def _annotated(ground: Ground, annotations: Sequence[Annotation], answer: Answer) -> str | None:
    """The text with a marker for each annotation; None where none of them has a place."""
    replaced: dict[Marker, list[Annotation]] = {}
    put: dict[int, list[Annotation]] = {}
    for annotation in annotations:
        key = normalise_url(annotation.url)
        if key is None or written(annotation.url) is None:
            continue
        markup = []
        if answer.annotated == "instead":
            markup = ground.markup(annotation.start, annotation.end, key)
        for marker in markup:
            replaced.setdefault(marker, []).append(annotation)
        place = None if markup else ground.place(annotation.start, annotation.end)
        if place is not None:
            put.setdefault(place, []).append(annotation)
    if not replaced and not put:
        return None
    changes = [_Change(place, place, said) for place, said in put.items()]
    changes += _replacements(ground, replaced)
    changes.sort(key=lambda change: (change.start, change.end))
    listing = Listing(ground.numbers, answer.sources)
    text = _changed(ground.text, changes, listing)
    n_cited = len(listing.lines())
    listing.number_all(annotations, answer.sources)
    lines = listing.lines()
    return with_lists(text, lines[:n_cited], lines[n_cited:])


@dataclass(frozen=True)
class _Change:
    """What is put in place of `text[start:end]`: some words of it, and markers."""

    start: int
    end: int
    cited: Sequence[Annotation]
    words: str = ""


def _changed(text: str, changes: Sequence[_Change], listing: Listing) -> str:
    """The text with its changes, which are in order."""
    pieces: list[str] = []
    last = 0
    for change in changes:
        numbers = dict.fromkeys(filter(None, map(listing.number, change.cited)))
        glued = text[change.end : change.end + 1] == "("
        pieces.append(text[last : max(last, change.start)])
        pieces.append(change.words)
        pieces += (in_text(number, glued=glued) for number in numbers)
        last = max(last, change.end)
    pieces.append(text[last:])
    return "".join(pieces)


def _replacements(ground: Ground, replaced: dict[Marker, list[Annotation]]) -> list[_Change]:
    """Links become markers; one that is part of a sentence keeps its words."""
    text = ground.text
    changes: list[_Change] = []
    for row in _rows(text, sorted(replaced, key=lambda marker: marker.start)):
        start, end = row[0].start, row[-1].end
        before, after = left_of(text, start), right_of(text, end)
        in_brackets = text[before - 1 : before] == "(" and text[after : after + 1] == ")"
        if in_brackets:
            start, end = before - 1, after + 1
        elif not _is_aside(text, start):
            changes += _within(ground, row, replaced)
            continue
        if ground.begins_statement(start):
            continue
        cited = [said for marker in row for said in replaced[marker]]
        changes.append(_Change(_close_to_words(text, start, end), end, cited))
    return changes


def _within(
    ground: Ground, row: Sequence[Marker], replaced: dict[Marker, list[Annotation]]
) -> Iterator[_Change]:
    """Links within a sentence: the words of their labels stay."""
    for marker in row:
        start, end = marker.start, marker.end
        if marker.label:
            yield _Change(start, end, replaced[marker], ground.text[slice(*marker.label)])
        elif not ground.begins_statement(start):
            yield _Change(_close_to_words(ground.text, start, end), end, replaced[marker])


def _close_to_words(text: str, start: int, end: int) -> int:
    """Where a marker in place of `text[start:end]` begins: after the word before it."""
    before = left_of(text, start)
    stays = before == 0 or text[before - 1] in "\r\n|" or text[end : end + 1].isalnum()
    return start if stays else before


def _rows(text: str, markers: Iterable[Marker]) -> list[list[Marker]]:
    """Markers that stand together, with at most commas between them."""
    rows: list[list[Marker]] = []
    for marker in markers:
        if rows and not text[rows[-1][-1].end : marker.start].strip(" \t,;"):
            rows[-1].append(marker)
        else:
            rows.append([marker])
    return rows


def _is_aside(text: str, start: int) -> bool:
    """Whether what stands at `start` comes after a sentence's end: it only cites."""
    return text[max(0, start - 40) : start].rstrip(_CLOSERS).endswith(_STOPS)


def _plain_numbers(
    text: str, annotations: Sequence[Annotation]
) -> tuple[str, tuple[Annotation, ...]]:
    """Gemini's `[cite: 1, 2]` as `[1][2]`, and the annotations where their text now stands."""
    found = list(_CITE.finditer(text))
    if not found:
        return text, tuple(annotations)
    pieces: list[str] = []
    ends: list[int] = []
    shifts: list[int] = []
    last = shift = 0
    for match in found:
        glued = text[match.end() : match.end() + 1] == "("
        numbers = match[1].split(",") if match[1] else ()
        plain = "".join(in_text(int(number), glued=glued) for number in numbers)
        pieces += (text[last : match.start()], plain)
        last = match.end()
        shift += len(plain) - len(match.group())
        ends.append(last)
        shifts.append(shift)
    pieces.append(text[last:])

    def moved(place: int | None) -> int | None:
        if place is None:
            return None
        passed = bisect_right(ends, place)
        return place + (shifts[passed - 1] if passed else 0)

    return "".join(pieces), tuple(
        said.model_copy(update={"start": moved(said.start), "end": moved(said.end)})
        for said in annotations
    )
