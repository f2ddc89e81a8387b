"""The pages an article rests on: the addresses in its references."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborNode

from tasks.extraction.urls import normalise_url
from tasks.wikipedia.dom import Element, parse
from tasks.wikipedia.noise import names

_REFERENCE = "ol.references > li, .mw-references > li, cite.citation, .refbegin li"
"""One reference each: an entry of a list of references or of a bibliography, or a citation."""

_ARCHIVES = names(
    "archive.today archive.ph archive.is archive.li archive.md archive.vn archive.fo",
    "archive.org webcitation.org ghostarchive.org perma.cc archive-it.org freezepage.com",
    "webarchive.nationalarchives.gov.uk webarchive.loc.gov arquivo.pt megalodon.jp",
    "webarchive.org.uk swap.stanford.edu vefsafn.is webarchive.parliament.uk",
)
"""Hosts that keep copies of other people's pages."""
_COPIED = re.compile(r"(?<=[/=])https?:/{1,2}(?=[^/])", re.IGNORECASE)
"""Where the copied page's address begins within that of the copy."""
_TIMESTAMPED = re.compile(r"/\d{4,14}[a-z_*]*/(?=[\w-]+(?:\.[\w-]+)+(?:[:/]|$))", re.IGNORECASE)
"""The same, where a copy's address leaves the scheme out: /web/2019/example.org/page."""


@dataclass(frozen=True, slots=True)
class ReferenceUrl:
    """One page among an article's references."""

    url: str
    """As written in its first reference; of an archived page the address that was copied."""
    normalised: str
    """The page's key: see `tasks.extraction.urls.normalise_url`."""
    archive_url: str | None = None
    """A copy of the page in a web archive, where the references give one."""


def reference_urls(html: str) -> tuple[ReferenceUrl, ...]:
    """Every external http(s) address in the references, each page once, by first appearance.

    Links to Wikipedia itself are no sources and left out. A copy in a web archive counts as the
    page it was made of: where its own address does not tell (`https://archive.ph/AbCde`), that
    is the page linked in the same reference. A copy of an unknown page counts as itself.

    Raises:
        UnreadableHtml: the HTML is too large or too entangled (see `dom.parse`).
    """
    found: dict[str, ReferenceUrl] = {}
    for links in _references(parse(html).body):
        for reference in _of_one(links):
            known = found.setdefault(reference.normalised, reference)
            if known.archive_url is None and reference.archive_url is not None:
                found[known.normalised] = ReferenceUrl(
                    known.url, known.normalised, reference.archive_url
                )
    return tuple(found.values())


def _references(body: LexborNode | None) -> Iterator[list[str]]:
    """The links of each reference. A citation within a list's entry is part of that entry."""
    if body is None:
        return
    seen: set[int] = set()
    for reference in body.css(_REFERENCE):
        links = []
        for node in reference.css("a[href]"):
            if node.mem_id not in seen:
                seen.add(node.mem_id)
                url = _external(Element(node))
                if url is not None:
                    links.append(url)
        if links:
            yield links


def _external(link: Element) -> str | None:
    """The http(s) address a link leads to outside of Wikipedia; None for other links."""
    url = (link.attributes.get("href") or "").strip()
    if url.startswith("//"):
        url = f"https:{url}"
    key = None if "extiw" in link.classes else normalise_url(url)
    if key is None:
        return None
    host = urlsplit(key).hostname or ""
    return None if host == "wikipedia.org" or host.endswith(".wikipedia.org") else url


def _of_one(links: Sequence[str]) -> Iterator[ReferenceUrl]:
    """The pages of one reference, each with its copy."""
    copies = [(place, url) for place, url in enumerate(links) if _is_copy(url)]
    originals = [(place, url) for place, url in enumerate(links) if not _is_copy(url)]
    archived: dict[str, str] = {}
    alone: list[tuple[int, str, str | None]] = []
    """Place, address and copy of what no other link of the reference names."""
    keys = {normalise_url(url): url for _, url in reversed(originals)}
    for place, copy in copies:
        named = copied_url(copy)
        if named is not None and normalise_url(named) in keys:
            archived.setdefault(keys[normalise_url(named)], copy)
        elif named is not None:
            alone.append((place, named, copy))
        elif (page := _beside(place, originals)) is not None:
            archived.setdefault(page, copy)
        else:
            alone.append((place, copy, None))
    pages = [(place, url, archived.get(url)) for place, url in originals]
    for _, url, copy_url in sorted([*pages, *alone], key=lambda page: page[0]):
        key = normalise_url(url)
        if key is not None:
            yield ReferenceUrl(url, key, copy_url)


def copied_url(url: str) -> str | None:
    """The address a copy was made of, where the address of the copy tells it."""
    parts = urlsplit(url)
    for text in (parts.path + (f"?{parts.query}" if parts.query else ""), unquote(parts.query)):
        found = _COPIED.search(text)
        if found:
            scheme, rest = text[found.start() :].split(":", 1)
            named = f"{scheme}://{rest.lstrip('/')}"
        elif (found := _TIMESTAMPED.search(text)) is not None:
            named = f"http://{text[found.end() :]}"
        else:
            continue
        if normalise_url(named) is not None:
            return named
    return None


def _beside(place: int, originals: Sequence[tuple[int, str]]) -> str | None:
    """The page linked next to a copy: before it ("Archived"), else after it ("the original")."""
    before = [url for other, url in originals if other < place]
    after = [url for other, url in originals if other > place]
    return before[-1] if before else (after[0] if after else None)


def _is_copy(url: str) -> bool:
    host = urlsplit(normalise_url(url) or "").hostname or ""
    if host == "archive.org":  # its own books and recordings are no copies of pages
        return urlsplit(url).path.startswith("/web/")
    if host.endswith(".archive.org"):
        return host.startswith(("web.", "wayback.", "liveweb."))
    return any(host == archive or host.endswith(f".{archive}") for archive in _ARCHIVES)
