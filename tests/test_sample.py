"""The committed sample edition is whole: what the demo and the other tests rely on."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tasks.benchmarks.reports import AgentReports
from tasks.benchmarks.wlc import PublishedEdition, read_agent, read_wlc
from tasks.extraction.urls import is_same_page, normalise_url
from tests.sample_edition import WHOLE

SAMPLE = WHOLE
AGENTS = ("sample_blogger", "sample_lecturer", "sample_scholar", "sample_sketch")
RESERVED = ("example.org", "example.com", "example.net")
"""Hosts nobody can own (RFC 2606), so no cited page is anyone's real page."""

MAX_BYTES = 160_000
_ADDRESS = re.compile(r"https?://(?:[^\s()<>\]]|\([^\s()]*\))+")


@pytest.fixture(scope="module")
def edition() -> PublishedEdition:
    return read_wlc(SAMPLE, "sample")


@pytest.fixture(scope="module")
def agents(edition: PublishedEdition) -> dict[str, AgentReports]:
    articles = {a.article for a in edition.articles}
    return {name: read_agent(SAMPLE, "sample", name, articles) for name in AGENTS}


def texts() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in SAMPLE.glob("test_data/*/md_data/*.md")}


def addresses(text: str) -> set[str]:
    found = {normalise_url(raw) for raw in _ADDRESS.findall(text)}
    return {url for url in found if url is not None}


def contents() -> list[dict[str, Any]]:
    """Every recorded copy of a page."""
    return [
        copy
        for path in SAMPLE.glob("test_data/*/json_data/*.json")
        for page in json.loads(path.read_text("utf-8"))["query"]["pages"].values()
        for copy in page["citation_contents"].values()
    ]


def test_the_importer_reads_all_of_it(
    edition: PublishedEdition, agents: dict[str, AgentReports]
) -> None:
    issues = [*edition.issues, *(i for read in agents.values() for i in read.issues)]
    assert [i.message for i in issues if i.severity == "unreadable"] == []
    assert [a.agent for a in edition.agents] == sorted(AGENTS)


def test_every_agent_has_one_report_on_every_article(
    edition: PublishedEdition, agents: dict[str, AgentReports]
) -> None:
    articles = sorted(a.article for a in edition.articles)
    assert len(articles) == 8  # an interval needs five
    for read in agents.values():
        assert sorted(r.assignment for r in read.reports) == articles
        assert {r.status for r in read.reports} == {"ok"}


def test_titles_need_more_than_ascii_letters(edition: PublishedEdition) -> None:
    titles = [a.title for a in edition.articles]
    assert any(not title.isascii() for title in titles)
    assert any("(" in title for title in titles)


def test_every_cited_address_has_a_page_or_an_error(agents: dict[str, AgentReports]) -> None:
    for path, text in texts().items():
        pages = {p.url: p for p in agents[path.parts[-3]].pages}
        for url in addresses(text):
            assert url in pages, f"{path.name}: nothing is recorded for {url}"
            assert (pages[url].text is None) != (pages[url].error is None)


def test_every_recorded_page_is_cited(agents: dict[str, AgentReports]) -> None:
    for name, read in agents.items():
        written = [text for path, text in texts().items() if path.parts[-3] == name]
        cited = {url for text in written for url in addresses(text)}
        assert {p.url for p in read.pages} == cited


def test_copies_of_one_page_are_equal() -> None:
    known: dict[str, dict[str, Any]] = {}
    for copy in contents():
        assert known.setdefault(copy["url"], copy) == copy


def test_hosts_are_reserved_ones_or_wikipedia() -> None:
    cited = {url for text in texts().values() for url in addresses(text)}
    for url in cited | {str(normalise_url(copy["url"])) for copy in contents()}:
        host = urlsplit(url).hostname or ""
        reserved = any(host == name or host.endswith(f".{name}") for name in RESERVED)
        assert reserved or host == "en.wikipedia.org", url


def test_only_the_blogger_cites_the_target_article_and_does_so_in_two_reports(
    edition: PublishedEdition,
) -> None:
    targets = {a.article: a.url for a in edition.articles}
    leaking = [
        path.parts[-3]
        for path, text in texts().items()
        if any(is_same_page(url, targets[path.stem]) for url in addresses(text))
    ]
    assert leaking == ["sample_blogger", "sample_blogger"]


def test_the_page_of_a_target_article_holds_this_editions_article(
    edition: PublishedEdition,
) -> None:
    leaked = [copy for copy in contents() if "wikipedia.org" in copy["url"]]
    assert leaked
    for copy in leaked:
        article = next(a for a in edition.articles if is_same_page(copy["url"], a.url))
        assert copy["content"].strip() == article.text.strip()


def test_one_page_is_dead(agents: dict[str, AgentReports]) -> None:
    errors = {name: [p.error for p in read.pages if p.error] for name, read in agents.items()}
    assert errors == {
        "sample_blogger": ["Failed to fetch"],
        "sample_lecturer": [],
        "sample_scholar": [],
        "sample_sketch": [],
    }


def test_one_report_cites_nothing() -> None:
    silent = [path for path, text in texts().items() if not addresses(text)]
    assert [path.parts[-3] for path in silent] == ["sample_sketch"]


def test_three_categories_and_more_have_two_articles(edition: PublishedEdition) -> None:
    numbers = Counter(article.category for article in edition.articles)
    assert [n for n in numbers.values() if n < 2] == []
    assert len(numbers) >= 3


def test_facts_are_published_for_all_articles_but_one(edition: PublishedEdition) -> None:
    numbers = [e.n_items for e in edition.extractions]
    assert len(numbers) == len(edition.articles) - 1
    assert all(12 <= number <= 20 for number in numbers)


def test_published_facts_are_found_in_their_articles(edition: PublishedEdition) -> None:
    assert [f.text for f in edition.facts if f.position is None] == []


def test_only_the_scholars_claims_are_published_and_all_of_them_cite(
    agents: dict[str, AgentReports],
) -> None:
    scholar = agents["sample_scholar"]
    assert {(c.assignment, c.number) for c in scholar.claims} == {
        (c.assignment, c.number) for c in scholar.citations
    }
    assert len(scholar.extractions) == len(scholar.reports)
    assert all(e.pairs_reliable for e in scholar.extractions)
    assert not any(agents[name].claims for name in AGENTS if name != "sample_scholar")


def test_published_claims_stand_word_for_word_in_their_reports(
    agents: dict[str, AgentReports],
) -> None:
    scholar = agents["sample_scholar"]
    written = {r.assignment: re.sub(r"\s*\[\d+\]", "", r.text) for r in scholar.reports}
    assert [c.text for c in scholar.claims if c.text not in written[c.assignment]] == []


def test_it_stays_small_enough_to_read() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < MAX_BYTES
