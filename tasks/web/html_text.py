"""The readable text of an HTML page as Markdown-like paragraphs, lists and table rows.

What a claim rests on may stand anywhere: in a table, a fact box, a caption, a tab that is not
open. Extractors that look for "the article" leave a fifth of it out (`python -m
tests.rigs.readable_pages` compares them). So the whole body is taken, without what is furniture
by its element or role, and without blocks that are all links, unless the page is an index and
consists of them. Text that only a program would draw is taken from the page's JSON.
"""

import re
from collections.abc import Iterable
from datetime import date

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
from htmldate import find_date
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tasks.base import Frozen
from tasks.web.embedded_json import article_bodies, drawn_texts, published

FURNITURE = (
    "head, script, style, template, svg, canvas, object, embed, iframe, audio, video, [hidden], "
    "nav, dialog, button, select, textarea, input, [aria-modal=true], [role=navigation], "
    "[role=banner], [role=contentinfo], [role=search], [role=dialog], [role=alertdialog], "
    "body > footer, body > div > footer"
)
"""Elements that are the site's and not the page's. Class names are no help: `share` is a button
here and a company's capital there. `display: none` is none either: tabs and folds hold text."""
NEVER_FURNITURE = frozenset({"html", "body", "main", "article"})
MOST_LINKED = 0.6
"""Share of a block's letters that may lie in short links; a menu has more."""
FEWEST_LINKS = 2
"""A single link may be a name: of an author, of an office."""
LONG_LINK = 60
"""Characters; a link with more is a text that can be clicked, as an event in a listing."""
FEW_LETTERS = 200
"""A page with fewer, outside of scripts, may be drawn by a program from data that it carries."""
LEAST_KEPT = 0.5
"""Share of a page's letters that its Markdown must have; else its bare text is taken: a converter
leaves out what lies too deep within each other."""

_INLINE = ["a", "b", "strong", "i", "em", "u", "s", "del", "font", "mark", "big", "small", "ins"]
"""Elements whose marks would only stand between the words."""
_LINK, _END = "\ue000", "\ue001"
"""Private characters that mark short links until menus are gone."""
_MARKS = re.compile(f"[{_LINK}{_END}]")
_LINKED = re.compile(f"{_LINK}([^{_LINK}{_END}]*){_END}")
_NO_LETTERS = re.compile(r"[\W_]+")
_BLOCKS = re.compile(r"\n[ \t]*\n")
_LANGUAGE = re.compile(r"([a-zA-Z]{2})(?:[-_].*)?")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T\s].*)?", re.S)
_OPTIONS = ConversionOptions(
    bullets="-",
    autolinks=False,
    extract_metadata=False,
    skip_images=True,
    compact_tables=True,
    hidden_content="reachable",
    include_blockquote_citations=False,
    preprocessing=PreprocessingOptions(enabled=False, remove_navigation=False, remove_forms=False),
)


class HtmlPage(Frozen):
    """What an HTML page says."""

    text: str
    title: str | None = None
    window_title: str | None = None
    """What stands on the browser's tab: a wall says its name there."""
    language: str | None = None
    published_on: date | None = None


def read_html(html: str) -> HtmlPage:
    """The text of a page, its title, language and date of publication where it names them.

    Raises:
        MemoryError: there is not enough; Lexbor takes any markup, and fails for nothing else.
    """
    try:
        tree = LexborHTMLParser(_MARKS.sub("", html))
    except SelectolaxError:
        raise MemoryError from None
    window = _shown(tree.css_first("head > title") or tree.css_first("body > title"))
    title, language, day = _title(tree, window), _language(tree), _published_on(tree)
    bodies, drawn = article_bodies(tree), drawn_texts(tree)
    text = _body_text(tree)
    if bodies and _letters(bodies[-1]) > _letters(text):  # the body holds but a teaser
        text = _joined([text, bodies[-1]])
    if _says_little(text):
        text = _joined([text, *drawn])
    if _says_little(text):
        text = _joined([text, _unscripted(html)])
    return HtmlPage(
        text=text, title=title, window_title=window, language=language, published_on=day
    )


def _body_text(tree: LexborHTMLParser) -> str:
    body = tree.body
    if body is None:
        return ""
    for node in body.css(FURNITURE):
        if node.tag not in NEVER_FURNITURE:
            node.decompose()
    for node in body.css("noscript"):
        node.decompose()
    return _converted(body)


def _unscripted(html: str) -> str:
    """What a page shows to browsers that run no scripts."""
    tree = LexborHTMLParser(html)
    shown = " ".join(node.inner_html or "" for node in tree.css("noscript"))
    body = LexborHTMLParser(f"<body>{shown}").body if shown.strip() else None
    return "" if body is None else _converted(body)


def _converted(body: LexborNode) -> str:
    for link in body.css("a"):
        first = link.first_child
        if first is not None and 0 < len(link.text().strip()) <= LONG_LINK:
            first.insert_before(_LINK)
            link.insert_child(_END)
    body.unwrap_tags(_INLINE)
    bare = body.text(separator="\n")
    markdown = convert(body.html or "", _OPTIONS).content or ""
    if _letters(markdown) < LEAST_KEPT * _letters(bare):
        markdown = "\n\n".join(line.strip() for line in bare.split("\n") if line.strip())
    return _without_menus([block for block in _BLOCKS.split(markdown) if block.strip()])


def _without_menus(blocks: list[str]) -> str:
    kept = [block for block in blocks if not _is_menu(block)]
    if sum(map(len, kept)) < sum(map(len, blocks)) / 2:
        kept = blocks  # a page that is links, such as a list of episodes
    return _MARKS.sub("", _joined(kept))


def _is_menu(block: str) -> bool:
    """Whether nearly all of a block is short links; headings and tables never are."""
    if block.lstrip().startswith(("#", "|")):
        return False
    links = _LINKED.findall(block)
    if len(links) < FEWEST_LINKS:
        return False
    return sum(_letters(link) for link in links) > MOST_LINKED * _letters(block)


def _says_little(text: str) -> bool:
    return _letters(text[: 50 * FEW_LETTERS]) < FEW_LETTERS


def _letters(text: str) -> int:
    """Letters and digits, in any script."""
    return len(_NO_LETTERS.sub("", text))


def _joined(blocks: Iterable[str]) -> str:
    trimmed = (
        "\n".join(line.rstrip() for line in block.strip("\n").split("\n")) for block in blocks
    )
    return "\n\n".join(block for block in trimmed if block.strip())


def _title(tree: LexborHTMLParser, window: str | None) -> str | None:
    """What the page is called where it is shared, else in its window, else in its heading."""
    named = (
        _content(tree, "meta[property='og:title']"),
        _content(tree, "meta[name='citation_title']"),
        window,
        _shown(tree.css_first("h1")),
    )
    return next((title for title in named if title), None)


def _language(tree: LexborHTMLParser) -> str | None:
    """ISO 639-1, as the page says it; null for what is no such code."""
    root = tree.css_first("html")
    said = (
        root.attributes.get("lang") if root is not None else None,
        root.attributes.get("xml:lang") if root is not None else None,
        _content(tree, "meta[http-equiv='content-language' i]"),
        _content(tree, "meta[property='og:locale']"),
        _content(tree, "meta[name='language' i]"),
    )
    return next((code for value in said if (code := language_code(value))), None)


def language_code(said: str | None) -> str | None:
    """`en` of `en-GB`; null for anything else than a code of two letters with a region."""
    found = _LANGUAGE.fullmatch((said or "").split(",")[0].strip())
    return found[1].lower() if found else None


def _published_on(tree: LexborHTMLParser) -> date | None:
    """The day of publication by the page's markup; dates in its text are not guessed at."""
    dated = next((day for said in published(tree) if (day := day_of(said))), None)
    if dated is not None:
        return dated
    # htmldate searches text and address as well; it is shown the markup alone.
    metas = "".join(node.html or "" for node in tree.css("meta"))
    times = tree.css("time[pubdate], time[itemprop*=date i], time[class*=publish i]")
    first = tree.css_first("article time[datetime], main time[datetime]")
    shown = "".join(node.html or "" for node in [*times[:3], *([first] if first else [])][:1])
    if not metas and not shown:
        return None
    found = find_date(
        f"<html><head>{metas}</head><body><article>{shown}</article></body></html>",
        extensive_search=False,
        original_date=True,
    )
    return day_of(found)


def day_of(said: str | None) -> date | None:
    """The day of an ISO date or time; null for anything else."""
    found = _DATE.fullmatch((said or "").strip())
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _content(tree: LexborHTMLParser, selector: str) -> str | None:
    node = tree.css_first(selector)
    return _spaced(node.attributes.get("content")) if node is not None else None


def _shown(node: LexborNode | None) -> str | None:
    return _spaced(node.text()) if node is not None else None


def _spaced(text: str | None) -> str | None:
    return " ".join((text or "").split())[:1000] or None
