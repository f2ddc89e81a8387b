"""Extract the readable text of an HTML page as Markdown-like paragraphs, lists and table rows.

Evidence for a claim may be anywhere: in a table, a fact box, a caption, a closed tab. Extractors
that look for "the article" lose a fifth of it (docs/measurements.md). So the whole body is kept,
except boilerplate by element or role and blocks that consist of links, unless the page is an index
of links. Text that only scripts would render is taken from the page's JSON.
"""

import re
from collections.abc import Iterable
from datetime import date

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
from htmldate import find_date
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tasks.web.leads import find_refresh, find_shown_pdf
from tasks.web.page import ExtractedText
from tasks.web.plain_text import find_article_bodies, find_publication_dates, find_script_texts

BOILERPLATE = (
    "head, script, style, template, svg, canvas, object, embed, iframe, audio, video, [hidden], "
    "nav, dialog, button, select, textarea, input, [aria-modal=true], [role=navigation], "
    "[role=banner], [role=contentinfo], [role=search], [role=dialog], [role=alertdialog], "
    "body > footer, body > div > footer, noscript"
)
"""Elements that belong to the site, not the page. Class names do not help: `share` is a button
here and a company's capital there. Nor does `display: none`: closed tabs and folds hold text."""
NEVER_BOILERPLATE = frozenset({"html", "body", "main", "article"})
MAX_LINKED = 0.6
"""Largest share of a block's letters in short links; a menu has more."""
MIN_MENU_LINKS = 2
"""Links that make a menu; a single one may be the name of an author or an office."""
LONG_LINK = 60
"""Characters; a longer link is a text that can be clicked, such as an event in a listing."""
SHORT_PAGE_LETTERS = 200
"""A page with fewer letters outside of scripts may be rendered by a script from its JSON."""
MIN_KEPT = 0.5
"""Share of a page's letters that its Markdown must have; otherwise the plain text is used: the
converter drops what is nested too deeply."""

_INLINE = ["a", "b", "strong", "i", "em", "u", "s", "del", "font", "mark", "big", "small", "ins"]
"""Elements whose Markdown marks would only clutter the text."""
_LINK, _END = "\ue000", "\ue001"
"""Private-use characters that mark short links until menus are removed."""
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


def read_html(html: str, url: str = "") -> ExtractedText:
    """Extract a page's text, and its title, language and publication date if it states them; also
    where it leads by a refresh, and the PDFs that it shows if it has no text of its own.

    Raises:
        MemoryError: out of memory, the only reason for Lexbor to fail.
    """
    try:
        tree = LexborHTMLParser(_MARKS.sub("", html))
    except SelectolaxError:
        raise MemoryError from None
    window = _node_text(tree.css_first("head > title") or tree.css_first("body > title"))
    # All of these come before the body's text, which takes the tree apart.
    title, language = _find_title(tree, window), _find_language(tree)
    published_on = _find_publication_day(tree)
    bodies, drawn = find_article_bodies(tree), find_script_texts(tree)
    text = _body_text(tree)
    if bodies and _count_letters(bodies[-1]) > _count_letters(text):  # the body is only a teaser
        text = _join_blocks([text, bodies[-1]])
    if _is_short(text):
        text = _join_blocks([text, *drawn])
    is_short = _is_short(text)
    if is_short:
        text = _join_blocks([text, _noscript_text(html)])
    return ExtractedText(
        text=text,
        title=title,
        window_title=window,
        language=language,
        published_on=published_on,
        markup=html,
        refresh=find_refresh(html, url, with_noscript=is_short),
        shown_pdf=find_shown_pdf(html, url, text),
    )


def _body_text(tree: LexborHTMLParser) -> str:
    body = tree.body
    if body is None:
        return ""
    for node in body.css(BOILERPLATE):
        if node.tag not in NEVER_BOILERPLATE:
            node.decompose()
    return _convert(body)


def _noscript_text(html: str) -> str:
    """Return what a page shows to browsers that run no scripts."""
    tree = LexborHTMLParser(html)
    hidden = " ".join(node.inner_html or "" for node in tree.css("noscript"))
    body = LexborHTMLParser(f"<body>{hidden}").body if hidden.strip() else None
    return "" if body is None else _convert(body)


def _convert(body: LexborNode) -> str:
    for link in body.css("a"):
        first = link.first_child
        if first is not None and 0 < len(link.text().strip()) <= LONG_LINK:
            first.insert_before(_LINK)
            link.insert_child(_END)
    body.unwrap_tags(_INLINE)
    bare = body.text(separator="\n")
    markdown = convert(body.html or "", _OPTIONS).content or ""
    if _count_letters(markdown) < MIN_KEPT * _count_letters(bare):
        markdown = "\n\n".join(line.strip() for line in bare.split("\n") if line.strip())
    blocks = [block for block in _BLOCKS.split(markdown) if block.strip()]
    kept = [block for block in blocks if not _is_menu(block)]
    if sum(map(len, kept)) < sum(map(len, blocks)) / 2:
        kept = blocks  # an index of links, such as a list of episodes
    return _MARKS.sub("", _join_blocks(kept))


def _is_menu(block: str) -> bool:
    """Return whether a block consists mostly of short links; headings and tables never do."""
    if block.lstrip().startswith(("#", "|")):
        return False
    links = _LINKED.findall(block)
    if len(links) < MIN_MENU_LINKS:
        return False
    return sum(_count_letters(link) for link in links) > MAX_LINKED * _count_letters(block)


def _is_short(text: str) -> bool:
    return _count_letters(text[: 50 * SHORT_PAGE_LETTERS]) < SHORT_PAGE_LETTERS


def _count_letters(text: str) -> int:
    """Count letters and digits, in any script."""
    return len(_NO_LETTERS.sub("", text))


def _join_blocks(blocks: Iterable[str]) -> str:
    trimmed = (
        "\n".join(line.rstrip() for line in block.strip("\n").split("\n")) for block in blocks
    )
    return "\n\n".join(block for block in trimmed if block.strip())


def _find_title(tree: LexborHTMLParser, window: str | None) -> str | None:
    """Return the title for sharing, else that of the window, else the first heading."""
    candidates = (
        _meta_content(tree, "meta[property='og:title']"),
        _meta_content(tree, "meta[name='citation_title']"),
        window,
        _node_text(tree.css_first("h1")),
    )
    return next((title for title in candidates if title), None)


def _find_language(tree: LexborHTMLParser) -> str | None:
    """Return the page's declared language as an ISO 639-1 code; None if there is none."""
    root = tree.css_first("html")
    declared = (
        root.attributes.get("lang") if root is not None else None,
        root.attributes.get("xml:lang") if root is not None else None,
        _meta_content(tree, "meta[http-equiv='content-language' i]"),
        _meta_content(tree, "meta[property='og:locale']"),
        _meta_content(tree, "meta[name='language' i]"),
    )
    return next((code for value in declared if (code := parse_language(value))), None)


def parse_language(value: str | None) -> str | None:
    """Return `en` for `en-GB` or `en`; None for anything but a two-letter code."""
    found = _LANGUAGE.fullmatch((value or "").split(",")[0].strip())
    return found[1].lower() if found else None


def _find_publication_day(tree: LexborHTMLParser) -> date | None:
    """Return the publication date in the page's markup; dates in its text are not considered."""
    dated = next((day for text in find_publication_dates(tree) if (day := parse_day(text))), None)
    if dated is not None:
        return dated
    # htmldate also searches text and URL, so it gets the date markup only.
    metas = "".join(node.html or "" for node in tree.css("meta"))
    times = tree.css("time[pubdate], time[itemprop*=date i], time[class*=publish i]")
    first = tree.css_first("article time[datetime], main time[datetime]")
    times_html = "".join(node.html or "" for node in [*times[:3], *([first] if first else [])][:1])
    if not metas and not times_html:
        return None
    found = find_date(
        f"<html><head>{metas}</head><body><article>{times_html}</article></body></html>",
        extensive_search=False,
        original_date=True,
    )
    return parse_day(found)


def parse_day(value: str | None) -> date | None:
    """Parse the day of an ISO date or time; None for anything else."""
    found = _DATE.fullmatch((value or "").strip())
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _meta_content(tree: LexborHTMLParser, selector: str) -> str | None:
    node = tree.css_first(selector)
    return _collapse_spaces(node.attributes.get("content")) if node is not None else None


def _node_text(node: LexborNode | None) -> str | None:
    return _collapse_spaces(node.text()) if node is not None else None


def _collapse_spaces(text: str | None) -> str | None:
    return " ".join((text or "").split())[:1000] or None
