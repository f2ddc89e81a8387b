"""Links and pictures of what people read lead to files that are there, and to headings in them;
the make targets that they name exist."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.docs.site import DOCS, GENERATED

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
MADE = {DOCS / name for name in GENERATED}
"""Pages that `make docs` makes."""
PARSER = MarkdownIt("commonmark").enable("table")


def links(page: Path) -> Iterator[str]:
    for token in inline(page):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target:
                yield str(target)


@cache
def inline(page: Path) -> list[Token]:
    return [token for token in PARSER.parse(page.read_text("utf-8")) if token.type == "inline"]


@cache
def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings: of a second one that is the same, with a number."""
    tokens = PARSER.parse(page.read_text("utf-8"))
    seen = Counter[str]()
    found = set()
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            said = "".join(each.content for each in content.children or ())
            name = re.sub(r"[^\w\- ]", "", said.lower()).replace(" ", "-")
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    lost = [target for target in links(page) if not leads_somewhere(page, target)]
    assert lost == []


def leads_somewhere(page: Path, target: str) -> bool:
    parts = urlsplit(target)
    if parts.scheme:
        return parts.scheme in ("http", "https", "mailto")
    there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if there in MADE:
        return not parts.fragment  # `make docs` looks at the anchors
    if not there.exists() or not there.is_relative_to(ROOT):
        return False
    return not parts.fragment or parts.fragment in anchors(there)


def test_there_are_links_into_files_and_headings() -> None:
    found = [urlsplit(target) for page in PAGES for target in links(page)]
    assert sum(bool(each.path) and not each.scheme for each in found) > 50
    assert any(each.fragment and not each.scheme for each in found)


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("b.md", True),
        ("b.md#two-words-and-code", True),
        ("#here", True),
        ("#here-1", True),
        ("https://example.org/x", True),
        ("b.md#two-words", False),
        ("c.md", False),
        ("#there", False),
        ("../b.md", False),
        ("tasks:b.md", False),
    ],
)
def test_a_link_that_leads_nowhere_is_found(
    target: str, leads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "a.md"
    page.write_text(f"# Here\n\n[a link]({target})\n\n## Here\n", "utf-8")
    (tmp_path / "b.md").write_text("## Two words, and `code`!\n", "utf-8")
    assert list(links(page)) == [target]
    assert leads_somewhere(page, target) == leads


def test_the_readme_is_read_in_two_minutes() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 200
    assert len(text) <= 12_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_targets_of_make_exist(page: Path) -> None:
    tokens = PARSER.parse(page.read_text("utf-8"))
    tokens += [child for token in tokens for child in token.children or ()]
    code = "\n".join(token.content for token in tokens if token.type in ("fence", "code_inline"))
    named = set(re.findall(r"^(?:\$ )?make (?:-\S+ )*([a-z][a-z-]*)", code, re.MULTILINE))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert named <= {*targets}
