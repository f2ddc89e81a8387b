"""Find text that a page carries as JSON, for search engines or for scripts that render the page."""

import re
from collections.abc import Iterator

import orjson
from selectolax.lexbor import LexborHTMLParser

ARTICLE_FIELDS = ("articleBody", "reviewBody", "text", "description")
"""schema.org fields that hold a work's text."""
MAX_JSON_BYTES = 5_000_000
PROSE_SAMPLE = 500
"""Characters at the start of a string that are checked for prose."""
_DATED = ("datePublished", "dateCreated", "uploadDate")
_LINKED_DATA = "script[type='application/ld+json']"
_APPLICATION = "script[type='application/json']"
_TAGS = re.compile(r"<[^<>]{1,500}>")
_PROSE = re.compile(r"(?:[^\W\d_]{2,40}\W{1,9}){2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{6}")
"""More than two words, or six characters of a script without spaces."""
_CODE = re.compile(r"^[\w$.:/?&=%#\[\]@+-]*$|https?://\S+$|[{};]\s*$|^[.#@]?[\w-]+\s*\{")


def find_article_bodies(tree: LexborHTMLParser) -> list[str]:
    """Return the texts of works that the page's linked data describes, the longest last."""
    found = {
        str(value): None
        for name, value in _iterate_fields(tree, _LINKED_DATA)
        if name in ARTICLE_FIELDS and isinstance(value, str) and _PROSE.search(value[:PROSE_SAMPLE])
    }
    return sorted((_strip_tags(text) for text in found), key=len)


def find_publication_dates(tree: LexborHTMLParser) -> Iterator[str]:
    """Yield the publication dates in the page's linked data."""
    for wanted in _DATED:
        for name, value in _iterate_fields(tree, _LINKED_DATA):
            if name == wanted and isinstance(value, str):
                yield value


def find_script_texts(tree: LexborHTMLParser) -> list[str]:
    """Return what reads like prose in the JSON from which scripts render the page."""
    found = {
        _strip_tags(value): None
        for _, value in _iterate_fields(tree, _APPLICATION)
        if isinstance(value, str) and _is_prose(value[:PROSE_SAMPLE])
    }
    return list(found)


def _iterate_fields(tree: LexborHTMLParser, selector: str) -> Iterator[tuple[str, object]]:
    for script in tree.css(selector):
        text = script.text().strip()
        if len(text) > MAX_JSON_BYTES:
            continue
        try:
            yield from _walk(orjson.loads(text))
        except orjson.JSONDecodeError:  # also raised for too deep nesting
            continue


def _walk(value: object) -> Iterator[tuple[str, object]]:
    """Yield every (name, value) pair in document order; a list's items have the list's name."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((key, item[key]) for key in reversed(item))
        elif isinstance(item, list):
            waiting.extend((name, inner) for inner in reversed(item))
        else:
            yield name, item


def _is_prose(text: str) -> bool:
    return bool(_PROSE.search(text)) and not _CODE.search(text)


def _strip_tags(text: str) -> str:
    return _TAGS.sub(" ", text).strip() if "<" in text else text.strip()
