"""Rewrite what an HTML report cites by: links to notes, raised numbers, entries of a list.

Afterwards a marker is `[^1]`, `[1]` or a link, and each note or entry is one line.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from tasks.documents.raised import RAISED_NUMBER, is_exponent
from tasks.extraction.headings import is_reference_heading

LINE = "\ue000"
"""Begins a line of its own; becomes a line break when the page is converted."""
MAX_NOTE = 3_000
"""Characters of a note; a longer block to which a number leads is a chapter."""
MAX_STEPS = 40
"""Nodes, and characters, looked at before a raised number."""
_BACK = re.compile(r"[\s↑↩︎\ufe0e\ufe0f^←]*")
_NUMBER = re.compile(r"[\[(]?\s*(\d{1,4})\s*[\])]?")
_LABEL = re.compile(r"\s*[\[(]?(\d{1,4})(?:[\])]?[.:]?(?=\s|$)|[\])])")
_NAME = re.compile(r"[^A-Za-z0-9-]+")
_BRACKETED = re.compile(r"\[((?:\[\^[\w-]{1,80}\][,;–\s-]{0,3}){1,40})\]")
_LINES = re.compile(rf"\s*{LINE}[\s{LINE}]*")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
_SEPARATE = re.compile(r"(?<=\d)\s+(?=\d)")
_INLINE = frozenset(
    ["a", "abbr", "b", "cite", "em", "font", "i", "mark", "small", "span", "strong", "sup", "u"]
)
_NOTES = frozenset(["li", "p", "div", "aside", "section", "tr", "dd"])
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_NO_NOTE = f"{_HEADINGS}, table, ul, ol"
"""What no note contains: a block with one of these is a chapter."""


def write_citations(body: LexborNode) -> None:
    """Rewrite a page's notes, raised numbers and entries."""
    _write_notes(body)
    for raised in body.css("sup"):
        _write_raised(raised)
    for paragraph in body.css("p"):
        _join_entry(paragraph)


def part_lines(markdown: str) -> str:
    """Begin the lines of notes in a converted page; drop brackets around markers in brackets."""
    return _LINES.sub("\n\n", _BRACKETED.sub(r"\1", markdown)).lstrip("\n")


def _write_notes(body: LexborNode) -> None:
    """Rewrite notes that the text links to as Markdown footnotes: `[^1]`, `[^1]: …`."""
    places: dict[str, LexborNode] = {}
    for marked in body.css("[id], a[name]"):
        for key in ("id", "name"):
            places.setdefault(marked.attributes.get(key) or "", marked)
    notes: dict[int, tuple[LexborNode, str]] = {}
    taken: set[str] = set()
    for link in body.css("a[href^='#']"):
        number = _NUMBER.fullmatch(link.text().strip())
        place = places.get((link.attributes["href"] or "")[1:])
        if number is None or place is None or any(n.mem_id in notes for n in _list_above(link)):
            continue
        if (note := _find_note(place)) is not None:
            unused = number[1] if number[1] not in taken else _NAME.sub("-", place.id or "note")
            name = notes.setdefault(note.mem_id, (note, unused))[1]
            taken.add(name)
            link.replace_with(f"[^{name}]")
        elif _is_list(place):
            link.replace_with(f"[{number[1]}]")
    lists: dict[int, LexborNode] = {}
    for note, name in notes.values():
        _write_note(note, name)
        above = _list_above(note.parent) if note.tag in ("li", "tr") else ()
        for around in [node for node in above if node.tag in ("ul", "ol", "table")][:1]:
            lists.setdefault(around.mem_id, around)
    for around in lists.values():
        _write_lines(around)


def _find_note(place: LexborNode) -> LexborNode | None:
    """Find the note at a link's target: an item, a row, a paragraph; None if there is none."""
    note: LexborNode | None = place
    if place.tag in _INLINE:
        if _text_before(place).strip():
            return None  # a marker, to which its note leads back
        note = next((n for n in _list_above(place) if n.tag not in _INLINE), None)
    if note is not None and note.tag == "dt":
        note = next((n for n in _list_next(note) if n.tag == "dd"), None)
    if note is not None and note.parent is not None and note.parent.tag in ("li", "tr"):
        note = note.parent
    if note is None or note.tag not in _NOTES or note.css_first(_NO_NOTE):
        return None
    return note if 0 < len(note.text().strip()) <= MAX_NOTE else None


def _is_list(place: LexborNode) -> bool:
    """Return whether a place is a whole list of references, where a marker's number is sought."""
    heading = place if place.tag in _HEADINGS.split(", ") else place.css_first(_HEADINGS)
    return place.tag in ("ol", "ul") or (
        heading is not None and is_reference_heading(heading.text().strip())
    )


def _write_note(note: LexborNode, name: str) -> None:
    """Write a note as one line that begins with its name."""
    for link in note.css("a[href^='#']"):
        if _BACK.fullmatch(link.text()):
            link.decompose()
    while (first := next(_list_children(note), None)) is not None:
        label = _LABEL.match(first.text())
        if label is None or label[1] != name:
            break
        rest = first.text()[label.end() :]
        if rest.strip():
            if first.is_text_node:
                first.replace_with(rest)
            break
        first.decompose()
    before = note.prev
    while before is not None and before.is_text_node and not before.text().strip():
        before = before.prev
    if before is not None and before.tag == "dt" and _NUMBER.fullmatch(before.text().strip()):
        before.decompose()
    for inner in note.css("br, p, div"):
        if inner.mem_id != note.mem_id:
            inner.insert_before(" ")
            inner.unwrap() if inner.tag != "br" else inner.decompose()
    if note.first_child is not None:
        note.first_child.insert_before(f"{LINE}[^{name}]: ")


def _write_lines(around: LexborNode) -> None:
    """Write each item of a list, or row of a table, as a line."""
    for number, row in enumerate(around.css("li, tr:has(td)"), start=1):
        if LINE not in row.text() and row.first_child is not None:
            row.first_child.insert_before(LINE + (f"{number}. " if around.tag == "ol" else ""))
        row.unwrap()
    for head in around.css("tr"):
        head.decompose()
    for part in around.css("td, th, thead, tbody, tfoot, caption"):
        part.insert_before(" ")
        part.unwrap()
    around.unwrap()


def _write_raised(raised: LexborNode) -> None:
    """Put brackets around a raised number that cites."""
    text = raised.text().strip()
    number = RAISED_NUMBER.fullmatch(_SEPARATE.sub(",", text))
    if number is None or raised.css_first("a"):
        return
    before = _text_before(raised)
    after = raised.next.text()[:1] if raised.next is not None else ""
    is_isotope = after.isalpha() and before[-1:].isspace()
    if not is_isotope and after not in ("/", "⁄") and not is_exponent(before, text):
        raised.replace_with(f"[{number[0].strip('[](),;')}]")


def _join_entry(paragraph: LexborNode) -> None:
    """Join an entry's numbers and title with the address in the paragraph below: `[1] Title url`.

    Numbers that lead to their page by a link are written without it, since they begin the entry.
    """
    below = next(_list_next(paragraph), None)
    link = below.css_first("a[href^='http']") if below is not None and below.tag == "p" else None
    if below is None or link is None or not _ADDRESS.fullmatch(below.text().strip()):
        return
    labels = []
    for node in _list_children(paragraph):
        if node.tag != "a" or not _NUMBER.fullmatch(node.text().strip()):
            break
        labels.append(node)
    if not labels or link.text().strip() != below.text().strip():
        return
    for label in labels:
        number = _NUMBER.fullmatch(label.text().strip())
        label.replace_with(f"[{number[1]}] " if number else "")
    (paragraph.last_child or paragraph).insert_after(f" {link.attributes['href']}")
    below.decompose()


def _text_before(node: LexborNode) -> str:
    """Return the last characters before a node in its block."""
    found = ""
    at: LexborNode | None = node
    for _ in range(MAX_STEPS):
        while at is not None and at.prev is None:
            at = at.parent if at.parent is not None and at.parent.tag in _INLINE else None
        at = at.prev if at is not None else None
        if at is None or len(found) >= MAX_STEPS:
            break
        found = at.text() + found
    return found[-MAX_STEPS:]


def _list_above(node: LexborNode | None) -> Iterator[LexborNode]:
    while node is not None:
        yield node
        node = node.parent


def _list_next(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the elements after a node within its parent."""
    following = node.next
    while following is not None:
        if following.is_element_node:
            yield following
        following = following.next


def _list_children(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes in a node that show something."""
    child = node.first_child
    while child is not None:
        if child.text().strip():
            yield child
        child = child.next
