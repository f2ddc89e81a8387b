"""Parsing of a report's published JSON and of the page texts archived in it, without trusting its
shape.

The published files have MediaWiki's answer format: `query.pages` is `{id: page}` or `[page]`, with
one page of `extract`, `citation_urls` ({number: URL}), `citation_contents` ({number: {url, title,
content, error, fetched_by}}) and `statements`. JSON with these fields at its top level is accepted
too.

A page is `ok` by the published rule: no `error`, and more than 100 characters of content. The
content is not checked, because blocking pages by words such as "captcha" also drops good pages. Of
the 2,371 published copies 2,161 are good, 177 have an error, 33 are too short. The good ones belong
to 2,019 URLs, 35 of which have several different good copies.
"""

import base64
import binascii
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tasks.extraction.urls import normalise_url
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import content_sha, replace_surrogates

MIN_CONTENT_CHARACTERS = 100
"""A good page has more than this many characters after stripping."""


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


def parse_pages(edition: str, document: ReportDocument) -> tuple[list[Page], int]:
    """Return a report's pages by citation number, and the number of pages without usable URL.

    A page belongs to the URL that the report cites under its number; if `citation_urls` does not
    list that number, to the URL it was fetched from (`url`). The two differ in 8 published copies,
    only by percent-encoding or a redirect.
    """
    pages: list[Page] = []
    skipped = 0
    for number, record in sorted(document.citation_contents.items()):
        cited = document.citation_urls.get(number) or to_text(record.get("url"))
        url = normalise_url(cited)
        if url is None:
            skipped += 1
        else:
            pages.append(_make_page(edition, url, record))
    return pages, skipped


def select_copies(pages: Iterable[Page]) -> tuple[Page, ...]:
    """Return one copy of each page, sorted by URL: the first good one, else the first."""
    kept: dict[str, Page] = {}
    for page in pages:
        known = kept.get(page.url)
        if known is None or (known.status != "ok" and page.status == "ok"):
            kept[page.url] = page
    return tuple(page for _, page in sorted(kept.items()))


def decode_title(title: str) -> str | None:
    """Return a page's title, of which most are published in Base64; None if blank.

    It is decoded only if it is exact Base64 of readable UTF-8.
    """
    title = title.strip()
    try:
        raw = base64.b64decode(title, validate=True)
        text = raw.decode("utf-8").strip()
    except (binascii.Error, ValueError):
        return title or None
    exact = base64.b64encode(raw).decode() == title
    encoded = bool(text) and exact and _is_readable(text) and not _is_plain(title, text)
    return text if encoded else title or None


def _is_plain(title: str, decoded: str) -> bool:
    """Return whether it is a word or year that happens to be Base64, like `Pipe` or `1541`."""
    one_case = title.islower() or title.isupper() or title.istitle()
    short_word = decoded.isascii() and decoded.isalpha()
    return (title.isalpha() and one_case) or (len(title) <= 4 and not short_word)


def _make_page(edition: str, url: str, record: Mapping[str, Any]) -> Page:
    content = to_text(record.get("content"))
    error = _find_error(record, len(content.strip()))
    return Page(
        edition=edition,
        url=url,
        status="ok" if error is None else "unfetchable",
        title=decode_title(to_text(record.get("title"))),
        text=content if error is None else None,
        text_sha=content_sha(content) if error is None else None,
        error=error,
        fetched_by=to_text(record.get("fetched_by")) or None,
        source="published",
    )


def _find_error(record: Mapping[str, Any], n_characters: int) -> str | None:
    error = record.get("error")
    if error:
        return to_text(error) or str(error)
    if n_characters <= MIN_CONTENT_CHARACTERS:
        return (
            f"only {n_characters} characters of content; more than {MIN_CONTENT_CHARACTERS} needed"
        )
    return None


_UNREADABLE_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})


def _is_readable(text: str) -> bool:
    """Return whether there are no control, private or unassigned characters except line breaks and
    tabs."""
    return all(c in "\n\r\t" or unicodedata.category(c) not in _UNREADABLE_CATEGORIES for c in text)
