"""Parsing of a report's published JSON, without trusting its shape.

The published files have MediaWiki's answer format: `query.pages` is `{id: page}` or `[page]`, with
one page of `extract`, `citation_urls` ({number: URL}), `citation_contents` ({number: {url, title,
content, error, fetched_by}}) and `statements`. JSON with these fields at its top level is accepted
too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.warehouse.rows import replace_surrogates


@dataclass(frozen=True)
class PublishedStatement:
    """A published claim: its text, citation numbers and URLs."""

    text: str
    numbers: tuple[str, ...] = ()
    urls: tuple[str, ...] | None = None
    """None if the record has no `url`: then only the numbers are known."""


@dataclass(frozen=True)
class ReportDocument:
    """A report's JSON; fields of an unexpected type count as absent."""

    extract: str
    citation_urls: Mapping[str, str]
    citation_contents: Mapping[str, Mapping[str, Any]]
    statements: tuple[PublishedStatement, ...] | None
    """None if nothing was extracted: there is no list `statements`."""
    n_unusable: int = 0
    """Statements without a text."""


def get_wiki_page(value: Any) -> Mapping[str, Any]:
    """Return the first page of a MediaWiki answer, dict or list; empty if there is none."""
    query = value.get("query") if isinstance(value, dict) else None
    pages = query.get("pages") if isinstance(query, dict) else None
    first: Any = None
    if isinstance(pages, dict):
        first = next(iter(pages.values()), None)
    elif isinstance(pages, list):
        first = next(iter(pages), None)
    return first if isinstance(first, dict) else {}


def parse_document(value: Any) -> ReportDocument | None:
    """Parse a JSON value; None if it has none of a report's fields."""
    fields = get_wiki_page(value) or (value if isinstance(value, dict) else {})
    if not {"statements", "citation_contents", "citation_urls"} & set(fields):
        return None
    listed = fields.get("statements")
    read = [_parse_statement(item) for item in listed] if isinstance(listed, list) else None
    kept = None if read is None else tuple(s for s in read if s is not None)
    return ReportDocument(
        extract=to_text(fields.get("extract")),
        citation_urls={
            k: v for k, v in _mapping_items(fields, "citation_urls") if isinstance(v, str)
        },
        citation_contents={
            k: v for k, v in _mapping_items(fields, "citation_contents") if isinstance(v, dict)
        },
        statements=kept,
        n_unusable=0 if read is None or kept is None else len(read) - len(kept),
    )


def parse_statement_texts(value: Any) -> tuple[list[str], int]:
    """Return the texts of a statement file, and the number of records without text."""
    items = value if isinstance(value, list) else []
    read = [_parse_statement(item) for item in items]
    texts = [s.text for s in read if s is not None]
    return texts, len(read) - len(texts)


def to_text(value: Any) -> str:
    """Return a string without lone surrogates; "" for anything else."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def _mapping_items(fields: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    value = fields.get(name)
    items = value.items() if isinstance(value, dict) else ()
    return [(k, to_text(v) if isinstance(v, str) else v) for k, v in items]


def _parse_statement(item: Any) -> PublishedStatement | None:
    if isinstance(item, str):
        item = {"statement": item}
    if not isinstance(item, dict):
        return None
    text = to_text(item.get("fact")).strip() or to_text(item.get("statement")).strip()
    if not text:
        return None
    urls = _to_strings(item["url"]) if "url" in item else None
    return PublishedStatement(text=text, numbers=_to_strings(item.get("ref_idx")), urls=urls)


def _to_strings(value: Any) -> tuple[str, ...]:
    """Return the non-blank strings in a list, a string, a number or null."""
    items = value if isinstance(value, list) else [value]
    kept = (str(i) if type(i) is int else to_text(i).strip() for i in items)
    return tuple(text for text in kept if text)
