"""Parse a rendered wiki page into a tree and walk it in linear time, without recursion and without
what is not the article: boxes, navigation, references.

Like any HTML5 parser, lexbor takes quadratic time for deep nesting and copies every unclosed
`<b>` into each later paragraph: 20 kB can make a million nodes. A wiki balances its markup, so
pages that would cost that much are rejected before they are parsed.

Names are the classes, ids and roles of MediaWiki's legacy parser, of Parsoid, and of English
Wikipedia's templates.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tasks.wikipedia.errors import WikiError


def split_names(*lines: str) -> frozenset[str]:
    """Return the words of all lines."""
    return frozenset(word for line in lines for word in line.split())


MAX_CHARACTERS = 32 * 1024 * 1024
"""Longer pages are rejected; the longest of the 69 published articles renders to 0.2 MB."""
MAX_ELEMENTS = 400_000
"""Pages with more are rejected; the 69 published articles have 11,000 per megabyte of HTML."""
MAX_NESTING_COST = 300_000_000
"""Sum over all tags of the open elements; a tree 10,000 deep has 50 million (0.4 s)."""
MAX_FORMATTING_COST = 20_000_000
"""Sum over all tags of the open `<b>`, `<i>`, …: the most nodes the parser may add itself."""
MAX_ATTRIBUTES = 5_000
"""Words within one tag: the parser compares each attribute with all before it."""

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*+)([^<>]*+)")
_FORMATTING = split_names("a b big code em font i nobr s small strike strong tt u")
_VOID = split_names("area base br col embed hr img input link meta param source track wbr")
_NO_CLASSES: frozenset[str] = frozenset()
_TEX_STYLE = re.compile(r"^\{\\(?:display|text)style\s?(.*)\}$", re.DOTALL)
TAGS = split_names(
    "script style link meta noscript template head title base input button select option",
    "textarea label form iframe object embed canvas svg audio video source track map area img",
    "figure figcaption figure-inline nav",
)
"""Elements without prose, and figures with their captions: reports have no pictures."""
CLASSES = split_names(
    # boxes beside the article
    "infobox infobox_v2 infobox_v3 vertical-navbox sidebar navbox navbox-styles navbar ambox ombox",
    "imbox cmbox tmbox fmbox dmbox asbox mbox-small metadata sistersitebox side-box portal-bar",
    "portalbox portal succession-box authority-control",
    # navigation, and other parts of the page that are not its text
    "toc hatnote dablink rellink shortdescription noprint nomobile navigation-not-searchable",
    "mw-editsection mw-jump-link mw-indicators mw-indicator printfooter catlinks",
    "mw-collapsible-toggle mw-empty-elt",
    # pictures, maps, sound
    "thumb gallery gallerybox locmap mw-kartographer-container timeline-wrapper mw-graph",
    "listen haudio mw-tmh-player mediaContainer ext-phonos-attribution mw-broken-media",
    # citation markers, references, maintenance notes about them
    "mw-ref mw-references-wrap references reflist refbegin mw-cite-backlink Inline-Template",
    "Template-Fact error mw-ext-cite-error scribunto-error",
    # hidden by style sheets
    "sortkey geo-nondefault geo-multi-punct geo-inline-hidden mwe-math-fallback-image-inline",
)
IDS = split_names("toc coordinates catlinks siteSub contentSub mw-navigation")
ROLES = split_names("navigation search")
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


class UnreadableHtml(WikiError):
    """A page's HTML is too large or too deeply nested to parse; it is left out."""


class Element:
    """An element of the tree, with its attributes read once."""

    __slots__ = ("attributes", "classes", "node", "tag")

    def __init__(self, node: LexborNode) -> None:
        self.node = node
        self.tag: str = node.tag or ""
        self.attributes: Mapping[str, str | None] = node.attributes
        classes = self.attributes.get("class")
        self.classes = frozenset(classes.split()) if classes else _NO_CLASSES

    def int_attribute(self, name: str, low: int, high: int, default: int = 1) -> int:
        """Return an integer attribute, clamped to [`low`, `high`]."""
        text = (self.attributes.get(name) or "").strip()
        if not text or not re.fullmatch(r"[+-]?[0-9]{1,9}", text):
            return default
        return min(max(int(text), low), high)


Event = tuple[Literal["enter", "leave"], Element] | tuple[Literal["text"], str]


def parse_html(html: str) -> LexborHTMLParser:
    """Parse a page.

    Raises:
        UnreadableHtml: longer than MAX_CHARACTERS, or too deeply nested to parse in seconds.
    """
    if len(html) > MAX_CHARACTERS:
        raise UnreadableHtml(
            f"The HTML holds {len(html):,} characters; at most {MAX_CHARACTERS:,} are read. "
            "Leave the page out."
        )
    _reject_entangled(html)
    return LexborHTMLParser(html.encode("utf-8", "replace"))


class Walk:
    """Iterates over the elements and texts under a node in document order, without noise.

    Formulas come as TeX text. After `skip`, the walk omits the content and the end of the element
    just entered.
    """

    def __init__(self, root: LexborNode) -> None:
        self._root = root
        self._skipped = False

    def skip(self) -> None:
        """Omit the content and the end of the element just entered."""
        self._skipped = True

    def __iter__(self) -> Iterator[Event]:
        open_elements: list[Element] = []
        node = self._root.first_child
        while node is not None:
            child: LexborNode | None = None
            if node.is_text_node:
                yield "text", node.text_content or ""
            elif node.is_element_node:
                element = Element(node)
                is_formula = element.tag == "math" or "mwe-math-element" in element.classes
                formula = _format_formula(element) if is_formula else None
                if formula is not None:
                    yield "text", formula
                elif not is_noise(element.tag, element.attributes, element.classes):
                    self._skipped = False
                    yield "enter", element
                    child = None if self._skipped else node.first_child
                    if child is not None:
                        open_elements.append(element)
                    elif not self._skipped:
                        yield "leave", element
            following = child or node.next
            while following is None and open_elements:
                element = open_elements.pop()
                yield "leave", element
                following = element.node.next
            node = following


def _reject_entangled(html: str) -> None:
    """Estimate the cost of parsing from the tags alone, in linear time."""
    unclosed: Counter[str] = Counter()
    n_elements = n_open = n_formatting = nesting = formatting = 0
    for match in _TAG.finditer(html):
        name = match[2].lower()
        if name in _VOID:
            pass
        elif not match[1]:
            unclosed[name] += 1
            n_elements += 1
            n_open += 1
            n_formatting += name in _FORMATTING
        elif unclosed[name]:
            unclosed[name] -= 1
            n_open -= 1
            n_formatting -= name in _FORMATTING
        nesting += n_open
        formatting += n_formatting
        if len(match[3]) > MAX_ATTRIBUTES and len(match[3].split()) > MAX_ATTRIBUTES:
            problem = f"more than {MAX_ATTRIBUTES:,} attributes in one tag"
        elif n_elements > MAX_ELEMENTS:
            problem = f"more than {MAX_ELEMENTS:,} elements"
        elif nesting > MAX_NESTING_COST or formatting > MAX_FORMATTING_COST:
            problem = f"{n_open:,} elements open, {n_formatting:,} of them formatting"
        else:
            continue
        raise UnreadableHtml(
            f"The HTML has, at character {match.start():,}, {problem}; no article needs that, and "
            "a wiki closes what it opens. Fetch the page afresh, or leave it out."
        )


def _format_formula(element: Element) -> str:
    """Format a formula as `$TeX$`, or as its symbols if it has no TeX."""
    annotation = element.node.css_first("annotation")
    image = element.node.css_first("img[alt]")
    if annotation is not None:
        tex = annotation.text()
    elif image is not None:
        tex = image.attributes.get("alt") or ""
    else:
        tex = element.attributes.get("alttext") or ""
    tex = " ".join(tex.split())
    plain = _TEX_STYLE.match(tex)
    tex = (plain[1] if plain else tex).strip()
    return f"${tex}$" if tex else element.node.text(separator=" ")


def is_noise(tag: str, attributes: Mapping[str, str | None], classes: frozenset[str]) -> bool:
    """Return whether an element and its content are not part of the article's text."""
    if not attributes or tag in TAGS:
        return tag in TAGS
    return (
        not CLASSES.isdisjoint(classes)
        or (tag == "sup" and "reference" in classes)
        or (tag == "a" and _is_noise_link(attributes, classes))
        or "hidden" in attributes
        or attributes.get("id") in IDS
        or attributes.get("role") in ROLES
        or "mw:File" in (attributes.get("typeof") or "")
        or _HIDDEN.search(attributes.get("style") or "") is not None
    )


def is_missing_template(attributes: Mapping[str, str | None], classes: frozenset[str]) -> bool:
    """Return whether a link stands for a template that the wiki does not have."""
    address = unquote(attributes.get("href") or "")
    return "new" in classes and "title=Template:" in address


def _is_noise_link(attributes: Mapping[str, str | None], classes: frozenset[str]) -> bool:
    return (
        "autonumber" in classes  # [1], for a URL without link text
        or is_missing_template(attributes, classes)
        or ("new" in classes and "wpDestFile=" in (attributes.get("href") or ""))  # no such file
    )
