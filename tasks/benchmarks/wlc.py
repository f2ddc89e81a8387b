"""Reads a published Wiki Live Challenge edition, or anyone's clone of it, into rows.

`read_wlc` gives the edition's frame (articles, facts, agents), `read_agent` one agent's reports
with their claims and pages, agent by agent, because the pages of one agent are up to 46 MB.
Both are pure reading: the same files give equal rows in equal order, but for
`Edition.imported_at`. What cannot be read is listed as an import issue; only a folder that is
not an edition at all raises (EditionError).

Source: github.com/WangShao2000/Wiki_Live_Challenge; the folders are in `layout.py`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.benchmarks.catalogue import Entry, entries, registered_agents, unused_agents
from tasks.benchmarks.document import statement_texts, wiki_page
from tasks.benchmarks.errors import EditionError, UnreadableFileError
from tasks.benchmarks.layout import Issues, Layout
from tasks.benchmarks.published_claims import EXTRACTOR_VERSION
from tasks.benchmarks.reports import AgentReader, AgentReports
from tasks.extraction.facts import locate_facts
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Edition,
    Extraction,
    Fact,
    ImportIssue,
    content_sha,
)

ARTICLES = "wiki_data/cleaned_data/article"
STATEMENTS = "wiki_data/cleaned_data/statement"
RAW_PAGES = "wiki_data/raw_wiki"


@dataclass(frozen=True)
class PublishedEdition:
    """An edition without its reports."""

    edition: Edition
    agents: tuple[Agent, ...]
    articles: tuple[Article, ...]
    assignments: tuple[Assignment, ...]
    facts: tuple[Fact, ...]
    extractions: tuple[Extraction, ...]
    """One per article with published facts; its agent is empty."""
    issues: tuple[ImportIssue, ...]


def known_agents(root: Path) -> list[str]:
    """Ids of the agents that have reports, sorted. Raises EditionError if it is no edition."""
    return Layout.at(root).agents()


def read_wlc(root: Path, edition: str, agents: Sequence[str] | None = None) -> PublishedEdition:
    """The articles, facts and agents under `root`; of the agents only those named, if any are.

    Raises EditionError for a missing or foreign folder, a broken list of articles or agents,
    and an agent without reports.
    """
    layout = Layout.at(root)
    issues = Issues(edition)
    registered = registered_agents(layout, edition)
    wanted = sorted(registered if agents is None else set(agents))
    _refuse_unknown(layout, wanted, registered)
    for agent in unused_agents(layout):
        issues.remark(
            f"test_data/{agent}",
            "agent_without_reports",
            f"agencies.json names {agent}, but there is no test_data/{agent}/md_data.",
        )
    listed = entries(layout)
    articles = _read_articles(layout, listed, edition, issues)
    facts, extractions = _read_facts(layout, articles, issues)
    return PublishedEdition(
        edition=Edition(
            edition=edition, source="wlc", title=f"Wiki Live Challenge {layout.root.name}"
        ),
        agents=tuple(registered[agent] for agent in wanted),
        articles=tuple(articles),
        assignments=tuple(_assignment(edition, listed[a.article]) for a in articles),
        facts=tuple(facts),
        extractions=tuple(extractions),
        issues=issues.rows(),
    )


def read_agent(root: Path, edition: str, agent: str, articles: Collection[str]) -> AgentReports:
    """One agent's reports on the articles with these ids, with their claims and pages.

    Raises EditionError if the folder is no edition or the agent has no reports in it.
    """
    layout = Layout.at(root)
    registered = registered_agents(layout, edition)
    _refuse_unknown(layout, [agent], registered)
    return AgentReader(layout, registered[agent], frozenset(articles)).read()


def _refuse_unknown(layout: Layout, wanted: Sequence[str], known: Collection[str]) -> None:
    unknown = [agent for agent in wanted if agent not in known]
    if unknown:
        raise EditionError(
            f"{', '.join(map(repr, unknown))}: no such agent in {layout.root / 'test_data'}; "
            f"expected a folder with md_data in it. Known: {', '.join(sorted(known)) or 'none'}."
        )


def _assignment(edition: str, entry: Entry) -> Assignment:
    return Assignment(
        edition=edition,
        assignment=entry.article,
        article=entry.article,
        prompt=entry.prompt,
        prompt_sha=None if entry.prompt is None else content_sha(entry.prompt),
    )


def _read_articles(
    layout: Layout, listed: dict[str, Entry], edition: str, issues: Issues
) -> list[Article]:
    texts = layout.files(ARTICLES, ".md")
    raw = layout.files(RAW_PAGES, ".json")
    articles = []
    for name, entry in listed.items():
        path = texts.get(name, f"{ARTICLES}/{name}.md")
        try:
            text = layout.text(path)
        except UnreadableFileError as error:
            issues.unreadable(path, error.kind, f"The article {name} is left out: {error}")
            continue
        _remark_on_metadata(entry, path, issues)
        page_id = _page_id(layout, raw[name], issues) if name in raw else None
        articles.append(_article(edition, entry, text, page_id))
    for name in sorted(set(texts) - set(listed)):
        issues.remark(
            texts[name],
            "unlisted_article",
            f"{texts[name]} is left out: the list of articles does not name it.",
        )
    return articles


def _article(edition: str, entry: Entry, text: str, page_id: int | None) -> Article:
    return Article(
        edition=edition,
        article=entry.article,
        title=entry.title,
        url=entry.url,
        page_id=page_id,
        text=text,
        text_sha=content_sha(text),
        created_at=entry.created_at,
        promoted_on=entry.promoted_on,
        bytes=entry.bytes,
        views=entry.views,
        external_links=entry.external_links,
        topic=entry.topic,
        category=entry.category,
    )


def _remark_on_metadata(entry: Entry, path: str, issues: Issues) -> None:
    if entry.promoted_before_created:
        issues.remark(
            path,
            "dates_contradict",
            f"{entry.title} was promoted on {entry.promoted_on}, before it was created "
            f"({entry.created_at}). Both dates are kept as published.",
        )
    if entry.unread:
        issues.remark(
            path,
            "unread_metadata",
            f"{entry.title}: {', '.join(entry.unread)} of the list of articles could not be read "
            "and stays empty. Correct the list and import again.",
        )


def _page_id(layout: Layout, path: str, issues: Issues) -> int | None:
    """The article's page id on Wikipedia, from its raw page."""
    try:
        page_id = wiki_page(layout.json(path)).get("pageid")
    except UnreadableFileError as error:
        issues.remark(path, error.kind, f"The article goes in without its page id: {error}")
        return None
    return page_id if type(page_id) is int else None


def _read_facts(
    layout: Layout, articles: Sequence[Article], issues: Issues
) -> tuple[list[Fact], list[Extraction]]:
    files = layout.files(STATEMENTS, "_statements.json")
    facts: list[Fact] = []
    extractions: list[Extraction] = []
    for article in articles:
        path = files.get(article.article)
        texts = _fact_texts(layout, path, issues) if path else []
        if texts:
            facts.extend(_facts(article, texts))
            extractions.append(_facts_extraction(article, texts))
    return facts, extractions


def _fact_texts(layout: Layout, path: str, issues: Issues) -> list[str]:
    """The published facts; empty, with a remark, where there are none: they are then
    extracted offline from the article."""
    try:
        texts, n_unusable = statement_texts(layout.json(path))
    except UnreadableFileError as error:
        issues.unreadable(path, error.kind, f"Facts are extracted offline instead: {error}")
        return []
    if not texts:
        issues.remark(path, "no_facts", f"{path} holds no facts; they are extracted offline.")
    elif n_unusable:
        issues.remark(path, "unusable_facts", f"{path}: {n_unusable} records without a text.")
    return texts


def _facts(article: Article, texts: Sequence[str]) -> list[Fact]:
    places = locate_facts(texts, article.text)
    return [
        Fact(
            edition=article.edition,
            article=article.article,
            number=number,
            text=text,
            section=section,
            position=position,
            source="published",
        )
        for number, (text, (section, position)) in enumerate(zip(texts, places, strict=True))
    ]


def _facts_extraction(article: Article, texts: Sequence[str]) -> Extraction:
    return Extraction(
        edition=article.edition,
        agent="",
        assignment=article.article,
        source="published",
        extractor_version=EXTRACTOR_VERSION,
        input_sha=article.text_sha,
        output_sha=content_sha(*texts),
        n_items=len(texts),
    )
