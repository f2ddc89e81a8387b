"""Rewrite what an HTML report cites by: links to notes, raised numbers, entries of a list.

Afterwards a marker is `[^1]`, `[1]` or a link, and each note or entry is one line.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from tasks.extraction.headings import is_reference_heading
from tasks.extraction.marker_forms import NUMBERS, is_exponent

MAX_NOTE = 3_000
"""Characters of a note; a longer block to which a number leads is a chapter."""
_NUMBER = re.compile(r"[\[(]?\s*(\d{1,4})\s*[\])]?")
_BACK = re.compile(rf"[\s↑↩︎\ufe0e\ufe0f^←]*|{_NUMBER.pattern}[.:]?")
_LABEL = re.compile(
    r"((?:\s|<[^<>]*>)*)[\[(]?(\d{1,4})(?:[\])]?[.:]?(?=[\s<]|$)|[\])])((?:\s|</[^<>]*>)*)"
)
_BRACKETED = re.compile(r"\[((?:\[(?:\^[\w-]{1,80}|\d{1,4})\][,;–\s-]{0,3}){1,40})\]")
_BETWEEN = re.compile(r"\][,;\s]+\[")
_CITED = re.compile(rf"[\[(]?({NUMBERS})[\])]?[,;]?", re.IGNORECASE)
_SEPARATE = re.compile(r"(?<=\d)\s+(?=\d)")
_INLINE = frozenset(
    ["a", "abbr", "b", "cite", "em", "font", "i", "mark", "small", "span", "strong", "sup", "u"]
)
_NOTES = frozenset(["li", "p", "div", "aside", "section"])
_LISTS = frozenset(["ol", "ul", "tr", "td", "dt", "dd"])
_BLOCK_TAG = re.compile(r"</?(?:br|div|li|p|section)\b[^<>]*>")
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_NO_NOTE = f"{_HEADINGS}, table, ul, ol"
"""What no note contains: a block with one of these is a chapter."""
_MARKS = "sup, cite, " + ", ".join(f"[class*={w}]" for w in ("cit", "ref", "source", "note"))
"""What shows numbers that cite, raised by its tag or by the page's style sheet."""


def write_citations(body: LexborNode) -> None:
    """Rewrite a page's notes, raised numbers and entries."""
    _write_notes(body)
    entries = [_write_number(mark) for mark in body.css(_MARKS)]
    for entry in filter(None, entries):
        _write_line(entry)


def drop_brackets(markdown: str) -> str:
    """Drop what stands around and between markers in brackets: `[[1], [2]]`."""
    return _BRACKETED.sub(lambda match: _BETWEEN.sub("][", match[1]), markdown)


def _write_notes(body: LexborNode) -> None:
    """Rewrite notes that the text links to as Markdown footnotes: `[^1]`, `[^1]: …`.

    A number that leads to a list, or into a table, becomes `[1]`: it is sought there.
    """
    places: dict[str, LexborNode] = {}
    for marked in body.css("[id], a[name]"):
        for key in ("id", "name"):
            places.setdefault(marked.attributes.get(key) or "", marked)
    kinds: dict[int, str] = {}
    notes: dict[int, tuple[LexborNode, str]] = {}
    taken: set[str] = set()
    for link in body.css("a[href^='#']"):
        number = _NUMBER.fullmatch(link.text().strip())
        place = places.get((link.attributes["href"] or "")[1:])
        block = _find_block(place) if number and place else None
        if not number or not block or any(n.mem_id in notes for n in _list_above(link)):
            continue
        kind = kinds.get(block.mem_id) or kinds.setdefault(block.mem_id, _tell_kind(block))
        if kind == "note":
            unused = number[1] if number[1] not in taken else f"note-{len(notes)}"
            name = notes.setdefault(block.mem_id, (block, unused))[1]
            taken.add(name)
            link.replace_with(f"[^{name}]")
        elif kind == "list":
            link.replace_with(f"[{number[1]}]")
    for note, name in notes.values():
        _write_line(note, name)


def _find_block(place: LexborNode) -> LexborNode | None:
    """Find the block at a link's target; None if that is a marker, to which its note leads back."""
    if place.tag in _INLINE and _text_before(place).strip():
        return None
    block = next((n for n in _list_above(place) if n.tag not in _INLINE), None)
    above = block.parent if block is not None else None
    return above if above is not None and above.tag == "li" else block


def _tell_kind(block: LexborNode) -> str:
    """Tell a note, and a list of sources whose numbers are shown, from a chapter."""
    text, heading = block.text().strip(), block.css_first(_HEADINGS)
    if block.tag in _NOTES and 0 < len(text) <= MAX_NOTE and not block.css_first(_NO_NOTE):
        return "note"
    title = heading.text().strip() if heading else ""
    return "list" if block.tag in _LISTS or is_reference_heading(title) else "chapter"


def _write_line(note: LexborNode, name: str = "") -> None:
    """Write a note as one line, with its name, if it has one, instead of its number."""
    for link in note.css("a[href^='#']"):
        if _BACK.fullmatch(link.text()):
            link.decompose()
    line = " ".join(_BLOCK_TAG.sub(" ", note.inner_html or "").split())
    old = _LABEL.match(line) if name else None
    if old is not None and old[2] == name:
        line = old[1] + old[3] + line[old.end() :]
    paragraph = note.parser.create_node("p")
    paragraph.inner_html = f"[^{name}]: {line}" if name else line
    note.replace_with(paragraph)


def _write_number(mark: LexborNode) -> LexborNode | None:
    """Put brackets around a number that cites; return the entry that it begins, if it does."""
    text, entry = mark.text().strip(), mark.parent
    number = _CITED.fullmatch(_SEPARATE.sub(",", text))
    if number is None or entry is None or mark.css_first("a"):
        return None
    before = _text_before(mark)
    after = mark.next.text()[:1] if mark.next is not None else ""
    begins = mark.css_matches(":first-child") and not before.strip()
    is_isotope = after.isalpha() and before[-1:].isspace()
    if is_isotope or after in ("/", "⁄") or is_exponent(before, number[1]):
        return None
    is_entry = begins and entry.css_first("a[href^=http]") and _tell_kind(entry) == "note"
    if is_entry or mark.tag in _INLINE:
        mark.replace_with(f"[{number[1]}]")
    return entry if is_entry else None


def _text_before(node: LexborNode) -> str:
    """Return the last characters right before a node in its block."""
    while node.prev is None and node.parent is not None and node.parent.tag in _INLINE:
        node = node.parent
    return node.prev.text()[-40:] if node.prev is not None else ""


def _list_above(node: LexborNode | None) -> Iterator[LexborNode]:
    while node is not None:
        yield node
        node = node.parent
