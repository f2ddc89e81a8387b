"""Read a text once, as a reader sees it: its blocks of statements, their citation markers, and its
reference lists.

What is hidden (comments, `display:none`) and the code fence around a whole report become blanks, so
that offsets stay. Cited pages are another matter: their closed tabs are read.
"""

import re
from dataclasses import dataclass

from tasks.extraction.blocks import MarkdownBlock, Outline, parse_outline
from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.hidden import UNSEEN_TAGS, hides
from tasks.extraction.references import References, find_references
from tasks.extraction.sentences import group_markers

_TOKENS = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`{1,2})(?!`)[^`\n]{1,500}(?<!`)(?P=ticks)(?!`))"
    r"|^[ \t]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*$"
    r"|(?P<comment><!--)"
    r"|<(?P<close>/?)(?P<tag>[a-z][a-z0-9-]{0,20})(?P<attributes>(?:\s[^<>]{0,2000})?)/?>",
    re.IGNORECASE | re.MULTILINE,
)
_ATTRIBUTE = re.compile(
    r"([a-z][\w:-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=]+)))?", re.IGNORECASE
)
_UNSEEN = re.compile(
    r"^ {0,3}\[(?:(?://|comment)\]: ?(?:#|<>)|[^\[\]\n]{1,80}\]: ?<?data:)[^\n]*"
    r"|(?<=^```)[ \t]*(?:\[\d{1,3}\][ \t\r]*)+$|<img\b[^<>]{0,5000}>"
    r"|\A\ufeff?---[ \t]*\r?\n[\w-]+:[^\n]*\n(?:(?:[\w-]+:|[ \t#-])[^\n]*\n){0,99}---[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Comments of Markdown, pictures and their data, the front matter of a file, and markers behind the
end of a fence, with which it would go on."""
_VOID = frozenset(["br", "hr", "img", "input", "meta", "link", "wbr", "source", "col"])
_BLOCKS = frozenset(["div", "section", "article", "aside", "details", "table", "ul", "ol", "main"])
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_NOT_BLANK = re.compile(r"[^\s]")
_FENCE = re.compile(
    r"\A(?P<before>(?:[^\n]{0,300}\n){0,4}?)[ \t]{0,3}(?P<marks>`{3,}|~{3,})[ \t]*"
    r"(?P<name>markdown|md|mdx|text|txt|)[ \t]*\r?\n",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+\S|^\*\*[^*\n]+\*\*\s*$", re.MULTILINE)
_SENTENCE = re.compile(r"[^\W\d_]{2,}[^\n]{20,}[.。!?！？]")
MAX_AROUND = 80
"""Words around a fence that holds a whole report: `Here is the report`, `Let me know …`."""


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text as a reader sees it."""

    text: str
    """As long as the original; what is not seen is blank."""
    outline: Outline
    references: References
    markers: tuple[Marker, ...]
    blocks: tuple[tuple[MarkdownBlock, tuple[Marker, ...]], ...]
    """The blocks that hold statements, not references, each with its markers."""


def read_citations(markdown: str, title: str = "") -> CitedText:
    """Read a text's blocks, markers and reference lists. Never raises.

    title: the heading that names the text.
    """
    text = _mask_unseen(markdown)
    outline = parse_outline(text, title)
    body = [block for block in outline.blocks if not block.apparatus]
    certain = group_markers(body, find_markers(text))
    cited = {key for inside in certain for marker in inside for key in marker.numbers}
    references = find_references(text, outline, cited)
    lists = [(found.start, found.end) for found in references.lists]
    markers = tuple(find_markers(text, references.keys, lists))
    statements = [block for block in body if not references.holds(block.start)]
    grouped = group_markers(statements, markers)
    return CitedText(
        text,
        outline,
        references,
        markers,
        tuple((block, tuple(inside)) for block, inside in zip(statements, grouped, strict=True)),
    )


def _mask_unseen(markdown: str) -> str:
    """Return a report with blanks for what a reader does not see; the offsets stay the same."""
    text = _mask_fence(markdown)
    text = _UNSEEN.sub(lambda match: _NOT_BLANK.sub(" ", match.group()), text)
    spans = list(_find_hidden(text)) if "<" in text else []
    return _blank(text, spans) if spans else text


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at : max(at, start)], _NOT_BLANK.sub(" ", text[max(at, start) : end])]
        at = max(at, end)
    return "".join(pieces) + text[at:]


def _find_hidden(text: str) -> list[tuple[int, int]]:
    """Find comments and hidden elements, outside code. A block that nobody closes hides all that
    follows, other elements the rest of their paragraph."""
    spans: list[tuple[int, int]] = []
    last_closing = text.rfind("-->")
    fence, hidden, depth, begins, skip_to = "", "", 0, 0, 0
    for token in _TOKENS.finditer(text):
        if token.start() < skip_to:
            continue
        if marks := token["fence"]:
            if not fence:
                fence = marks
            elif marks.startswith(fence):
                fence = ""
        elif fence or token["code"]:
            continue
        elif token["comment"]:
            end = text.find("-->", token.end(), last_closing + 3)
            if end >= 0:
                spans.append((token.start(), end + 3))
                skip_to = end + 3
        else:
            tag = token["tag"].lower()
            if hidden:
                depth += (tag == hidden) * (-1 if token["close"] else 1)
                if depth == 0:
                    spans.append((begins, token.end()))
                    hidden = ""
            elif not token["close"] and tag not in _VOID and _is_hiding(tag, token["attributes"]):
                hidden, depth, begins = tag, 1, token.start()
    if hidden and hidden not in UNSEEN_TAGS:
        blank = _BLANK_LINE.search(text, begins) if hidden not in _BLOCKS else None
        spans.append((begins, blank.start() if blank else len(text)))
    return sorted(spans)


def _is_hiding(tag: str, attributes: str) -> bool:
    found = {
        name.lower(): double or single or plain
        for name, double, single, plain in _ATTRIBUTE.findall(attributes)
    }
    return hides(tag, found)


def _mask_fence(text: str) -> str:
    """Return a report that lies whole in a code fence without the fence and the words around it.

    A fence without a name holds a report if headings and sentences stand in it: code stays code.
    """
    body = text.lstrip("\ufeff \t\r\n")
    opening = _FENCE.match(body)
    if opening is None:
        return text
    content = len(text) - len(body) + opening.end()
    marks = opening["marks"]
    closing = rf"^[ \t]{{0,3}}{marks[0]}{{{len(marks)},}}[ \t]*$"
    closings = list(re.finditer(closing, text[content:], re.M))
    end = content + closings[-1].start() if closings else len(text)
    inside, around = text[content:end], text[:content] + text[end:]
    if len(around.split()) > MAX_AROUND or len(around) > len(inside):
        return text
    if not (_SENTENCE.search(inside) and (opening["name"] or _HEADING.search(inside))):
        return text
    return _blank(text, [(0, content), (end, len(text))])
