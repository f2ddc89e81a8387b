"""Text that a page carries as JSON: for search engines, or for a program that draws the page."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
from selectolax.lexbor import LexborHTMLParser

ARTICLE_FIELDS = ("articleBody", "reviewBody", "text", "description")
"""Where schema.org has a work's text."""
MOST_BYTES = 5_000_000
SHOWN = 500
"""Characters of a string that show whether it is prose."""
_DATED = ("datePublished", "dateCreated", "uploadDate")
_LINKED_DATA = "script[type='application/ld+json']"
_APPLICATION = "script[type='application/json']"
_TAGS = re.compile(r"<[^<>]{1,500}>")
_PROSE = re.compile(r"(?:[^\W\d_]{2,40}\W{1,9}){2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{6}")
"""At least two words and more, or six characters of a script without blanks."""
_CODE = re.compile(r"^[\w$.:/?&=%#\[\]@+-]*$|https?://\S+$|[{};]\s*$|^[.#@]?[\w-]+\s*\{")


def article_bodies(tree: LexborHTMLParser) -> list[str]:
    """The texts of works that a page describes by linked data, the longest last."""
    found = {
        str(value): None
        for name, value in _fields(tree, _LINKED_DATA)
        if name in ARTICLE_FIELDS and isinstance(value, str) and _PROSE.search(value[:SHOWN])
    }
    return sorted((_plain(text) for text in found), key=len)


def published(tree: LexborHTMLParser) -> Iterator[str]:
    """Dates on which linked data says that something was published."""
    for wanted in _DATED:
        for name, value in _fields(tree, _LINKED_DATA):
            if name == wanted and isinstance(value, str):
                yield value


def drawn_texts(tree: LexborHTMLParser) -> list[str]:
    """What reads like prose in the data from which a program in the browser draws the page."""
    found = {
        _plain(value): None
        for _, value in _fields(tree, _APPLICATION)
        if isinstance(value, str) and _is_prose(value[:SHOWN])
    }
    return list(found)


def _fields(tree: LexborHTMLParser, selector: str) -> Iterator[tuple[str, Any]]:
    for script in tree.css(selector):
        text = script.text().strip()
        if len(text) > MOST_BYTES:
            continue
        try:
            yield from _walked(orjson.loads(text))
        except orjson.JSONDecodeError:  # also what lies too deep within each other
            continue


def _walked(value: Any) -> Iterator[tuple[str, Any]]:
    """Every (name, value) pair, in the order in which they stand; an item has its list's name."""
    waiting: list[tuple[str, Any]] = [("", value)]
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


def _plain(text: str) -> str:
    return _TAGS.sub(" ", text).strip() if "<" in text else text.strip()
