"""Extract the pages that an article cites: the URLs in its references."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from tasks.extraction.bans import is_host_or_subdomain
from tasks.extraction.urls import normalise_url
from tasks.extraction.wrappers import ARCHIVES, find_target
from tasks.wikipedia.dom import Element, parse_html

_REFERENCE = "ol.references > li, .mw-references > li, cite.citation, .refbegin li"
"""Selects single references: entries of reference lists and bibliographies, and citations."""


@dataclass(frozen=True, slots=True)
class ReferenceUrl:
    """A page among an article's references."""

    url: str
    """The URL as written in its first reference; of an archived copy, the original URL."""
    normalised: str
    """The page's key: see `tasks.extraction.urls.normalise_url`."""
    archive_url: str | None = None
    """A copy of the page in a web archive, if the references link to one."""


def find_reference_urls(html: str) -> tuple[ReferenceUrl, ...]:
    """Find every external http(s) page in the references, each once, in order of appearance.

    Links to Wikipedia itself are not sources and are left out. An archived copy counts as its
    original page; if its URL does not contain the original (`https://archive.ph/AbCde`), that is
    the page linked in the same reference. A copy of an unknown page counts as itself.

    Raises:
        UnreadableHtml: the HTML is too large or too deeply nested (see `dom.parse_html`).
    """
    found: dict[str, ReferenceUrl] = {}
    for links in _find_references(parse_html(html).body):
        for reference in _pair_copies(links):
            known = found.setdefault(reference.normalised, reference)
            if known.archive_url is None and reference.archive_url is not None:
                found[known.normalised] = ReferenceUrl(
                    known.url, known.normalised, reference.archive_url
                )
    return tuple(found.values())


def _find_references(body: LexborNode | None) -> Iterator[list[str]]:
    """Yield the links of each reference. A citation within a list entry is part of that entry."""
    if body is None:
        return
    seen: set[int] = set()
    for reference in body.css(_REFERENCE):
        links = []
        for node in reference.css("a[href]"):
            if node.mem_id not in seen:
                seen.add(node.mem_id)
                url = _external_url(Element(node))
                if url is not None:
                    links.append(url)
        if links:
            yield links


def _external_url(link: Element) -> str | None:
    """Return a link's http(s) URL outside Wikipedia; None for other links."""
    url = (link.attributes.get("href") or "").strip()
    if url.startswith("//"):
        url = f"https:{url}"
    key = None if "extiw" in link.classes else normalise_url(url)
    if key is None:
        return None
    host = urlsplit(key).hostname or ""
    return None if is_host_or_subdomain(host, ("wikipedia.org",)) else url


def _pair_copies(links: Sequence[str]) -> Iterator[ReferenceUrl]:
    """Yield the pages of one reference, each with its archived copy."""
    copies = [(place, url) for place, url in enumerate(links) if _is_copy(url)]
    originals = [(place, url) for place, url in enumerate(links) if not _is_copy(url)]
    archived: dict[str, str] = {}
    alone: list[tuple[int, str, str | None]] = []
    """Position, URL and copy of pages that no other link of the reference names."""
    keys = {normalise_url(url): url for _, url in reversed(originals)}
    for place, copy in copies:
        named = find_target(copy, copies=True) or ""
        if (key := normalise_url(named)) in keys:
            archived.setdefault(keys[key], copy)
        elif key is not None:
            alone.append((place, named, copy))
        elif (page := _find_neighbour(place, originals)) is not None:
            archived.setdefault(page, copy)
        else:
            alone.append((place, copy, None))
    pages = [(place, url, archived.get(url)) for place, url in originals]
    for _, url, copy_url in sorted([*pages, *alone], key=lambda page: page[0]):
        key = normalise_url(url)
        if key is not None:
            yield ReferenceUrl(url, key, copy_url)


def _find_neighbour(place: int, originals: Sequence[tuple[int, str]]) -> str | None:
    """Return the page linked before a copy ("Archived"), else the one after ("the original")."""
    before = [url for other, url in originals if other < place]
    after = [url for other, url in originals if other > place]
    return before[-1] if before else (after[0] if after else None)


def _is_copy(url: str) -> bool:
    host = urlsplit(normalise_url(url) or "").hostname or ""
    if host == "archive.org":  # its own books and recordings are not copies of pages
        return urlsplit(url).path.startswith("/web/")
    if host.endswith(".archive.org"):
        return host.startswith(("web.", "wayback.", "liveweb."))
    return is_host_or_subdomain(host, ARCHIVES.split())
