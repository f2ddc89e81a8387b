"""An edition full of attacks, published and parsed: nothing of it became markup.

tests/long/flows/site/test_hostile_site.py opens the same pages in a browser.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tasks.site.environment import POLICY
from tests.rigs.hostile_edition import AGENTS, SCRIPT, TITLES
from tests.rigs.hostile_site import UNSEEN, broken_rules, make, pages_of, publish

LOADED = ("src", "srcset", "poster", "data", "action", "formaction", "xlink:href", "ping")
"""Attributes by which a page loads or sends something, beside the `href` of what is no link."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def site(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(warehouse, tmp_path_factory.mktemp("site") / "site", "whole")


def parse(site: Path, name: str) -> LexborHTMLParser:
    """The page as a browser would read it: by the rules of HTML5."""
    return LexborHTMLParser((site / name).read_text("utf-8"))


def examine(page: LexborHTMLParser) -> dict[str, Any]:
    """What the page has, as `broken_rules` asks for it."""
    nodes = list(page.css("*"))
    assert page.root is not None
    return {
        "links": [_link(node) for node in nodes if node.tag == "a" and "href" in node.attributes],
        "attributes": [name for node in nodes for name in node.attributes],
        "elements": {str(node.tag) for node in nodes},
        "ids": [name for node in nodes if (name := node.attributes.get("id"))],
        "inline": len(page.css("script:not([src]), style")),
        "unseen": re.findall(UNSEEN, page.root.text()),
    }


def _link(node: LexborNode) -> dict[str, str | None]:
    href = node.attributes["href"] or ""
    leads_to = urlsplit(urljoin("file:///site/page.html", re.sub(r"[\t\r\n]", "", href).strip()))
    return {"href": href, "rel": node.attributes.get("rel"), "protocol": f"{leads_to.scheme}:"}


def loaded_by(page: LexborHTMLParser) -> Iterator[str]:
    for node in page.css("*"):
        names = LOADED if node.tag == "a" else (*LOADED, "href")
        yield from (node.attributes[name] or "" for name in names if name in node.attributes)


def test_no_text_of_an_edition_becomes_markup(site: Path) -> None:
    """No script, handler, style, frame, form or odd link comes from titles, reports, pages, names
    or addresses, and no character acts unseen."""
    broken = {name: broken_rules(examine(parse(site, name)), name) for name in pages_of(site)}
    assert {name: rules for name, rules in broken.items() if rules} == {}


def test_every_page_forbids_what_is_not_its_sites(site: Path) -> None:
    """Every page has our policy before all else, and loads files of its own folder only."""
    for name in pages_of(site):
        page = parse(site, name)
        [policy] = page.css("meta[http-equiv]")
        assert policy.attributes == {"http-equiv": "Content-Security-Policy", "content": POLICY}
        assert page.css("meta[http-equiv] ~ script, meta[http-equiv] ~ link")
        assert not page.css("script ~ meta[http-equiv], link ~ meta[http-equiv]")
        for address in loaded_by(page):
            within = (site / name).parent / address.partition("#")[0].partition("?")[0]
            assert within.resolve().is_relative_to(site.resolve()), address
            assert within.exists(), address


def test_what_was_written_can_still_be_read(site: Path) -> None:
    """Hostile titles and names stand on the pages, as text."""
    [main] = parse(site, "edition.html").css("main")
    shown = main.text()
    assert SCRIPT in shown
    assert "⟨U+202E⟩gpj.exe" in shown
    names = [link.text() for link in parse(site, "index.html").css("table.board tbody th a")]
    assert len(names) == len(AGENTS)
    assert any("⟨U+202E⟩gpj.exe" in name for name in names)
    values = parse(site, "index.html").css("#f-category option")
    assert len({value.attributes.get("value") for value in values}) == len(TITLES) + 1


def test_agents_whose_names_begin_alike_are_two_in_every_picture(site: Path) -> None:
    """Names that are cut where they are alike stay apart."""
    article = next(name for name in pages_of(site) if name.startswith("articles/"))
    rows = [text.text() for text in parse(site, article).css("figure.wide svg text")]
    alike = [row for row in rows if row.startswith("Same long name")]
    assert len(set(alike)) == len(alike) == 2


def test_no_file_of_it_is_named_by_an_agent_or_a_title(site: Path) -> None:
    """Files have short names of plain characters, whatever agents and articles are called."""
    for path in site.rglob("*"):
        name = path.relative_to(site).as_posix()
        assert name == name.encode("ascii", "replace").decode()
        assert not set(name) & set("<>\"'&?#%: \\"), name
        assert len(path.name) < 120


def test_the_files_of_figures_hold_no_end_of_a_script(site: Path) -> None:
    """A script that holds figures cannot be ended, nor its lines, by a text in it."""
    scripts = [*site.glob("data/parts/*.js")]
    assert scripts
    for path in scripts:
        text = path.read_text("utf-8")
        assert "<" not in text
        assert "\u2028" not in text
