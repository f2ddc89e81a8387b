"""One report's published JSON, taken apart without trusting its shape.

The published files wrap everything in MediaWiki's answer format: under `query.pages`, either
`{id: page}` or `[page]`, stands one page with `extract`, `citation_urls` ({number: URL}),
`citation_contents` ({number: {url, title, content, error, fetched_by}}) and `statements`.
A JSON with those fields at its top level is read as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.warehouse.rows import storable


@dataclass(frozen=True)
class Statement:
    """One published claim: its text, its citation numbers and its URLs as listed."""

    text: str
    numbers: tuple[str, ...] = ()
    urls: tuple[str, ...] | None = None
    """None where the record has no `url` at all: the numbers must do then."""


@dataclass(frozen=True)
class Document:
    """What a report's JSON holds; fields of another type than published read as absent."""

    extract: str
    citation_urls: Mapping[str, str]
    citation_contents: Mapping[str, Mapping[str, Any]]
    statements: tuple[Statement, ...] | None
    """None where nothing was extracted: no `statements` key, or no list under it."""
    n_unusable: int = 0
    """Statements without a text."""


def wiki_page(value: Any) -> Mapping[str, Any]:
    """The first page of a MediaWiki answer, dict or list; empty if there is none."""
    query = value.get("query") if isinstance(value, dict) else None
    pages = query.get("pages") if isinstance(query, dict) else None
    first: Any = None
    if isinstance(pages, dict):
        first = next(iter(pages.values()), None)
    elif isinstance(pages, list):
        first = next(iter(pages), None)
    return first if isinstance(first, dict) else {}


def document(value: Any) -> Document | None:
    """A JSON value as a Document; None if it holds none of a report's fields."""
    fields = wiki_page(value) or (value if isinstance(value, dict) else {})
    if not {"statements", "citation_contents", "citation_urls"} & set(fields):
        return None
    listed = fields.get("statements")
    read = [_statement(item) for item in listed] if isinstance(listed, list) else None
    kept = None if read is None else tuple(s for s in read if s is not None)
    return Document(
        extract=text_of(fields.get("extract")),
        citation_urls={k: v for k, v in _mapping(fields, "citation_urls") if isinstance(v, str)},
        citation_contents={
            k: v for k, v in _mapping(fields, "citation_contents") if isinstance(v, dict)
        },
        statements=kept,
        n_unusable=0 if read is None or kept is None else len(read) - len(kept),
    )


def statement_texts(value: Any) -> tuple[list[str], int]:
    """The texts of a statement file, and how many of its records have none."""
    items = value if isinstance(value, list) else []
    read = [_statement(item) for item in items]
    texts = [s.text for s in read if s is not None]
    return texts, len(read) - len(texts)


def text_of(value: Any) -> str:
    """A string, made storable; "" for anything else."""
    return storable(value) if isinstance(value, str) else ""


def _mapping(fields: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    value = fields.get(name)
    items = value.items() if isinstance(value, dict) else ()
    return [(k, text_of(v) if isinstance(v, str) else v) for k, v in items]


def _statement(item: Any) -> Statement | None:
    if isinstance(item, str):
        item = {"statement": item}
    if not isinstance(item, dict):
        return None
    text = text_of(item.get("fact")).strip() or text_of(item.get("statement")).strip()
    if not text:
        return None
    urls = _strings(item["url"]) if "url" in item else None
    return Statement(text=text, numbers=_strings(item.get("ref_idx")), urls=urls)


def _strings(value: Any) -> tuple[str, ...]:
    """A list, a string, a number or null as the strings in it that are not blank."""
    items = value if isinstance(value, list) else [value]
    kept = (str(i) if type(i) is int else text_of(i).strip() for i in items)
    return tuple(text for text in kept if text)
