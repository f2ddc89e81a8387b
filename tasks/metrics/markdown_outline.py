"""The shape of a Markdown text: lead, sections, prose, citation markers.

One pass over the lines, linear in their length; never raises.
"""

import re
from dataclasses import dataclass

REFERENCE_HEADINGS = frozenset(
    {
        "references", "reference list", "sources", "notes", "citations", "works cited",
        "bibliography", "footnotes", "further reading", "external links", "see also",
    }
)  # fmt: skip
"""Sections that list sources: neither prose nor citations. Source: Wiki Live Challenge."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_HEADING_NUMBER = re.compile(r"[\d.\s\\]+")
_REFERENCE_LINE = re.compile(r"\[\^?\d{1,4}\]:?\s|\[\^[^\]\s]{1,40}\]:")
_LINK_TARGET = re.compile(r"\]\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,2000}){0,8}\)")
_NUMBERED = re.compile(r"\[\(?\^?\d{1,4}\)?(?:\s?[,;–-]\s?\^?\d{1,4}){0,30}\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]")
_LENTICULAR = re.compile(r"【[^【】\n]{1,80}】")
_WEB_LINK = re.compile(r"\]\(<?https?://")
_BARE_URL = re.compile(r"https?://\S+")
_NUMBER = re.compile(r"\d+")
_MARKUP = re.compile(r"[\[\]*_`|>\\]+|^\s*[-+]\s")
_RULE = re.compile(r"[\s|:=-]+")


@dataclass(frozen=True, slots=True)
class Outline:
    """What a text is made of, reference sections left out."""

    lead: str
    """Prose before the first section heading."""
    prose: str
    """All prose, markup, markers and headings removed; one paragraph a line."""
    n_sections: int
    depth: int
    """Levels of headings below the title: 0 without sections."""
    n_citations: int
    """Sources cited in the prose; `[1, 2]` cites two."""


def outline(markdown: str) -> Outline:
    """Take a Markdown text apart."""
    lead: list[str] = []
    body: list[str] = []
    levels: list[int] = []
    citations = 0
    skipped_level: int | None = None
    titled = False
    for line in filter(None, markdown.splitlines()):
        heading = _HEADING.match(line)
        if heading:
            level = len(heading[1])
            if skipped_level is not None and level > skipped_level:
                continue
            skipped_level = level if _is_reference_heading(heading[2]) else None
            if not titled and level == 1:
                titled = True  # the first heading of level 1 is the article's title
            elif skipped_level is None:
                levels.append(level)
        elif skipped_level is None and not _REFERENCE_LINE.match(line.lstrip()):
            citations += _count_citations(line)
            (body if levels else lead).append(_plain(line))
    lead_text = "\n".join(filter(None, lead))
    prose = "\n".join(filter(None, [lead_text, *body]))
    return Outline(lead_text, prose, len(levels), _depth(levels), citations)


def _is_reference_heading(title: str) -> bool:
    title = title.strip(" *_#:").lower()
    number = _HEADING_NUMBER.match(title)
    return title[number.end() if number else 0 :] in REFERENCE_HEADINGS


def _depth(levels: list[int]) -> int:
    """Distinct heading levels in use: articles differ in the level their sections start at."""
    return len(set(levels))


def _count_citations(line: str) -> int:
    """Sources cited in one line: numbers in brackets, footnotes, 【…】 and links to the web."""
    links = len(_WEB_LINK.findall(line))
    rest = _LINK_TARGET.sub("]()", line)
    numbered = [marker for marker in _NUMBERED.finditer(rest) if not _is_label(rest, marker.end())]
    footnotes = sum(1 for found in _FOOTNOTE.findall(rest) if not _NUMBERED.fullmatch(found))
    inside = sum(len(_NUMBER.findall(marker[0])) for marker in numbered)
    return links + inside + footnotes + len(_LENTICULAR.findall(rest))


def _is_label(line: str, end: int) -> bool:
    """Is the bracket the label of a link? It was counted as one."""
    return line.startswith(("()", "]()"), end)


def _plain(line: str) -> str:
    """The words of one line."""
    if _RULE.fullmatch(line):
        return ""
    text = _LINK_TARGET.sub("]", line)
    for marker in (_LENTICULAR, _NUMBERED, _FOOTNOTE, _BARE_URL):
        text = marker.sub("", text)
    return _MARKUP.sub(" ", text).strip()
