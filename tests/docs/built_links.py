"""What is wrong with the links of a built site: files and anchors that are not there, and files
that a page loads from another server."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

LOADED = {"img": "src", "script": "src", "link": "href"}
"""Elements whose address a browser loads."""
NOT_LOADED = {"canonical", "prev", "next", "alternate"}
"""Relations of a `link` that a browser does not load."""
ADDRESSED_BY_PATH = {"404.html"}
"""A server answers with it at any address, so its own links begin at the site's root."""


def find_broken_links(site: Path) -> list[str]:
    """Return a line for each broken link of each page."""
    read_ids = cache(_read_ids)
    pages = sorted(path for path in site.rglob("*.html") if path.name not in ADDRESSED_BY_PATH)
    return [
        f"{page.relative_to(site)}: {target}: {problem}"
        for page in pages
        for loaded, target in _list_targets(page)
        if (problem := _describe_problem(site, page, target, loaded, read_ids))
    ]


def _list_targets(page: Path) -> Iterator[tuple[bool, str]]:
    """Every address on a page, and whether a browser loads it with the page."""
    tree = LexborHTMLParser(page.read_text("utf-8"))
    for node in tree.css("a[href]"):
        yield False, node.attributes["href"] or ""
    for tag, attribute in LOADED.items():
        for node in tree.css(f"{tag}[{attribute}]"):
            if (node.attributes.get("rel") or "") not in NOT_LOADED:
                yield True, node.attributes[attribute] or ""


def _describe_problem(site: Path, page: Path, target: str, loaded: bool, read_ids) -> str | None:  # type: ignore[no-untyped-def]
    parts = urlsplit(target)
    if parts.scheme in ("http", "https") or parts.netloc:
        return "it is loaded from another server" if loaded else None
    if parts.scheme:
        return None
    there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    there = there / "index.html" if there.is_dir() else there
    if not there.is_relative_to(site.resolve()) or not there.is_file():
        return "there is no such file"
    if (
        parts.fragment
        and there.suffix == ".html"
        and unquote(parts.fragment) not in read_ids(there)
    ):
        return "there is no such anchor"
    return None


def _read_ids(page: Path) -> frozenset[str]:
    tree = LexborHTMLParser(page.read_text("utf-8"))
    return frozenset(str(node.attributes["id"]) for node in tree.css("[id]"))
