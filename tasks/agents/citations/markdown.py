"""Reports as Markdown with one form of citations: `[n]` in the text and a list at its end.

Agents cite in three ways: with separate annotations of the text, with numbers in the text and a
separate list, or entirely in the text. The extractor reads the last form; this module converts the
others. It never edits words, and all that it inserts could be removed again.

    a report                          becomes
    annotation after "35–23"          … 35–23[1] …      and `[1] Title. URL` in `## References`
    annotation over ([title](url))    … 35–23[1] …      and the same
    `[2]` and a separate list         unchanged         and the list, in its order
    `[cite: 1, 2]` (Gemini)           `[1][2]`          and its own list unchanged
    sources not cited in the text     unchanged         and `## Additional sources`
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.agents.agent import Annotation, JobAnswer
from tasks.agents.citations.lists import (
    SourceList,
    append_lists,
    find_final_list,
    find_readable_url,
    render_marker,
    render_sources,
)
from tasks.agents.citations.positions import CitableText
from tasks.extraction.citations import Marker
from tasks.extraction.prose import find_blanks_end, find_blanks_start
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import AssignmentKind

Citations = Literal["annotations", "numbered", "as_written"]
_CITE = re.compile(
    r"\[cite:\s{0,3}(\d{1,3}(?:\s{0,3},\s{0,3}\d{1,3}){0,40})\s{0,3}\]|\[cite_start\]"
)
_CLOSERS = " \t*_`"
_STOPS = (".", "!", "?", "…", '"', "”", "’", "]", ")", ";")


def render_report(answer: JobAnswer, kind: AssignmentKind, citations: Citations | None) -> str:
    """Return an answer's text in the form that the pipeline reads. Never raises.

    kind: answers to questions (`find_claims`) are returned unchanged. citations: how the agent
    cites. With None, or if the answer has no such citations, the first that it has of these:
    annotations with a span, numbers with a separate list, the text as written.
    """
    if kind == "find_claims":
        return answer.text
    text, annotations = _expand_cite_markers(answer.text, answer.annotations)
    if citations == "as_written":
        return text
    body = CitableText(text)
    if body.has_own_list:
        return text
    if citations != "numbered":
        cited = _insert_annotations(body, annotations, answer)
        if cited is not None:
            return cited
    if body.is_numbered:
        return append_lists(text, render_sources(answer.sources) or find_final_list(text), [])
    sources = SourceList(body.used_numbers, answer.sources)
    sources.number_all(annotations, answer.sources)
    return append_lists(text, [], sources.lines())


def _insert_annotations(
    body: CitableText, annotations: Sequence[Annotation], answer: JobAnswer
) -> str | None:
    """Return the text with a marker for each annotation; None where none has a position."""
    replaced: dict[Marker, list[Annotation]] = {}
    inserted: dict[int, list[Annotation]] = {}
    for annotation in annotations:
        key = normalise_url(annotation.url)
        if key is None or find_readable_url(annotation.url) is None:
            continue
        markup = []
        if answer.marker_placement == "instead":
            markup = body.find_markup(annotation.start, annotation.end, key)
        for marker in markup:
            replaced.setdefault(marker, []).append(annotation)
        position = None if markup else body.marker_position(annotation.start, annotation.end)
        if position is not None:
            inserted.setdefault(position, []).append(annotation)
    if not replaced and not inserted:
        return None
    edits = [_TextEdit(at, at, cited) for at, cited in inserted.items()]
    edits += _replace_links(body, replaced)
    edits.sort(key=lambda edit: (edit.start, edit.end))
    sources = SourceList(body.used_numbers, answer.sources)
    text = _apply_edits(body.text, edits, sources)
    n_cited = len(sources.lines())
    sources.number_all(annotations, answer.sources)
    lines = sources.lines()
    return append_lists(text, lines[:n_cited], lines[n_cited:])


@dataclass(frozen=True)
class _TextEdit:
    """A replacement of `text[start:end]`: `words`, then markers for `cited`."""

    start: int
    end: int
    cited: Sequence[Annotation]
    words: str = ""


def _apply_edits(text: str, edits: Sequence[_TextEdit], sources: SourceList) -> str:
    """Return the text with `edits` applied; they must be in order."""
    pieces: list[str] = []
    last = 0
    for edit in edits:
        numbers = dict.fromkeys(filter(None, map(sources.number, edit.cited)))
        before_bracket = text[edit.end : edit.end + 1] == "("
        pieces.append(text[last : max(last, edit.start)])
        pieces.append(edit.words)
        pieces += (render_marker(number, before_bracket=before_bracket) for number in numbers)
        last = max(last, edit.end)
    pieces.append(text[last:])
    return "".join(pieces)


def _replace_links(body: CitableText, replaced: dict[Marker, list[Annotation]]) -> list[_TextEdit]:
    """Replace links by markers; a link that is part of a sentence keeps its label."""
    text = body.text
    edits: list[_TextEdit] = []
    for row in _group_adjacent(text, sorted(replaced, key=lambda marker: marker.start)):
        start, end = row[0].start, row[-1].end
        before, after = find_blanks_start(text, start), find_blanks_end(text, end)
        in_brackets = text[before - 1 : before] == "(" and text[after : after + 1] == ")"
        follows_sentence = text[max(0, start - 40) : start].rstrip(_CLOSERS).endswith(_STOPS)
        if in_brackets:
            start, end = before - 1, after + 1
        elif not follows_sentence:
            edits += _replace_inline_links(body, row, replaced)
            continue
        if body.begins_statement(start):
            continue
        cited = [annotation for marker in row for annotation in replaced[marker]]
        edits.append(_TextEdit(_skip_blanks_before(text, start, end), end, cited))
    return edits


def _replace_inline_links(
    body: CitableText, row: Sequence[Marker], replaced: dict[Marker, list[Annotation]]
) -> Iterator[_TextEdit]:
    """Replace links within a sentence by their labels and markers."""
    for marker in row:
        start, end = marker.start, marker.end
        if marker.label:
            yield _TextEdit(start, end, replaced[marker], body.text[slice(*marker.label)])
        elif not body.begins_statement(start):
            yield _TextEdit(_skip_blanks_before(body.text, start, end), end, replaced[marker])


def _skip_blanks_before(text: str, start: int, end: int) -> int:
    """Return where a marker that replaces `text[start:end]` begins: after the previous word."""
    before = find_blanks_start(text, start)
    stays = before == 0 or text[before - 1] in "\r\n|" or text[end : end + 1].isalnum()
    return start if stays else before


def _group_adjacent(text: str, markers: Iterable[Marker]) -> list[list[Marker]]:
    """Group markers with nothing but commas and blanks between them."""
    rows: list[list[Marker]] = []
    for marker in markers:
        if rows and not text[rows[-1][-1].end : marker.start].strip(" \t,;"):
            rows[-1].append(marker)
        else:
            rows.append([marker])
    return rows


def _expand_cite_markers(
    text: str, annotations: Sequence[Annotation]
) -> tuple[str, tuple[Annotation, ...]]:
    """Rewrite Gemini's `[cite: 1, 2]` as `[1][2]`, and shift the annotations accordingly."""
    found = list(_CITE.finditer(text))
    if not found:
        return text, tuple(annotations)
    pieces: list[str] = []
    ends: list[int] = []
    shifts: list[int] = []
    last = shift = 0
    for match in found:
        before_bracket = text[match.end() : match.end() + 1] == "("
        numbers = match[1].split(",") if match[1] else ()
        rendered = (render_marker(int(n), before_bracket=before_bracket) for n in numbers)
        plain = "".join(rendered)
        pieces += (text[last : match.start()], plain)
        last = match.end()
        shift += len(plain) - len(match.group())
        ends.append(last)
        shifts.append(shift)
    pieces.append(text[last:])

    def shifted(offset: int | None) -> int | None:
        if offset is None:
            return None
        passed = bisect_right(ends, offset)
        return offset + (shifts[passed - 1] if passed else 0)

    return "".join(pieces), tuple(
        annotation.model_copy(
            update={"start": shifted(annotation.start), "end": shifted(annotation.end)}
        )
        for annotation in annotations
    )
