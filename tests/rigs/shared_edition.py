"""The shared edition as the offline judge meets it: facts, and agents' claims with what leaks."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.benchmarks.wlc import PublishedEdition, read_agent, read_wlc
from tasks.extraction.claims import extract_claims
from tasks.protocols.redirects import cites_page
from tasks.warehouse.rows import Article, Report

EDITION = Path("wlc") / "2025_Mar_Nov"


@dataclass(frozen=True, slots=True)
class SharedReport:
    """A report with its claims in order; an empty report has none."""

    agent: str
    article: str
    text: str
    claims: tuple[str, ...]
    leaked: frozenset[int]
    """Places of the claims that cite the target article."""

    @property
    def honest(self) -> tuple[str, ...]:
        """The claims without those that leak."""
        return tuple(text for at, text in enumerate(self.claims) if at not in self.leaked)


@dataclass(frozen=True, slots=True)
class SharedEdition:
    articles: dict[str, Article]
    facts: dict[str, tuple[str, ...]]
    """By article."""
    reports: tuple[SharedReport, ...]
    published: dict[str, float]
    """Agents' published coverage in percent."""


def load_edition(data: Path) -> SharedEdition:
    """Read the edition below the shared data folder; claims come as an import makes them."""
    root = data / EDITION
    frame = read_wlc(root, "shared")
    facts = defaultdict(list)
    for fact in sorted(frame.facts, key=lambda fact: (fact.article, fact.number)):
        facts[fact.article].append(fact.text)
    return SharedEdition(
        articles={article.article: article for article in frame.articles},
        facts={article: tuple(found) for article, found in facts.items()},
        reports=tuple(_read_reports(root, frame)),
        published=_read_published(data / "published"),
    )


def _read_reports(root: Path, frame: PublishedEdition) -> Iterator[SharedReport]:
    articles = {article.article: article for article in frame.articles}
    for agent in frame.agents:
        read = read_agent(root, "shared", agent.agent, articles)
        claims, urls = defaultdict(list), defaultdict(list)
        for claim in sorted(read.claims, key=lambda claim: claim.number):
            claims[claim.assignment].append((claim.number, claim.text))
        for pair in read.citations:
            urls[pair.assignment, pair.number].append(pair.url)
        for report in read.reports:
            article = articles[report.assignment]
            of_report = [
                (text, urls[report.assignment, number])
                for number, text in claims[report.assignment]
            ] or _extract(article, report)
            yield SharedReport(
                agent=agent.agent,
                article=article.article,
                text=report.text,
                claims=tuple(text for text, _ in of_report),
                leaked=frozenset(
                    at
                    for at, (_, cited) in enumerate(of_report)
                    if cites_page(cited, article.url, {})
                ),
            )


def _extract(article: Article, report: Report) -> list[tuple[str, list[str]]]:
    extracted = extract_claims(article.title, report.text).claims
    return [(claim.text, [pair.url for pair in claim.citations]) for claim in extracted]


def _read_published(folder: Path) -> dict[str, float]:
    with (folder / "agents.csv").open(encoding="utf-8", newline="") as file:
        names = {row["published_name"]: row["folder"] for row in csv.DictReader(file)}
    with (folder / "wlc_main.csv").open(encoding="utf-8", newline="") as file:
        return {names[row["agent"]]: float(row["coverage_wiki"]) for row in csv.DictReader(file)}
