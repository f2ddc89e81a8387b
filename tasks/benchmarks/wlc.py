"""Reader of a published Wiki Live Challenge edition, or anyone's clone of it.

`read_wlc` reads the edition's frame (articles, facts, agents). `read_agent` reads one agent's
reports with their claims and pages, because the pages of one agent take up to 46 MB. The same files
give equal rows in equal order, except for `Edition.imported_at`. Unreadable files become import
issues; only a folder that is not an edition raises EditionError.

Source: github.com/WangShao2000/Wiki_Live_Challenge; the folders are in `layout.py`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.benchmarks.catalogue import ListedArticle, find_unused_agents, read_agents, read_articles
from tasks.benchmarks.document import get_wiki_page, parse_statement_texts
from tasks.benchmarks.errors import EditionError, UnreadableFileError
from tasks.benchmarks.layout import Issues, Layout
from tasks.benchmarks.published_claims import EXTRACTOR_VERSION
from tasks.benchmarks.reports import AgentReader, AgentReports
from tasks.errors import suggest_names
from tasks.extraction.facts import locate_facts
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.rows import Agent, Article, Assignment, Edition, Extraction, Fact, content_sha

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
    """One for each article with published facts, with an empty agent."""
    issues: tuple[ImportIssue, ...]


def read_wlc(root: Path, edition: str, agents: Sequence[str] | None = None) -> PublishedEdition:
    """Read the articles, facts and agents under `root`. agents: None reads all.

    Raises:
        EditionError: no edition, a broken list of articles or agents, or an agent without reports.
    """
    layout = Layout.open(root)
    issues = Issues(edition)
    registered = read_agents(layout, edition)
    wanted = sorted(registered if agents is None else set(agents))
    _refuse_unknown(layout, wanted, registered)
    for agent in find_unused_agents(layout):
        issues.add_remark(
            f"test_data/{agent}",
            "agent_without_reports",
            f"agencies.json names {agent}, but there is no test_data/{agent}/md_data.",
        )
    listed = read_articles(layout)
    articles = _read_articles(layout, listed, edition, issues)
    facts, extractions = _read_facts(layout, articles, issues)
    return PublishedEdition(
        edition=Edition(
            edition=edition, source="wlc", title=f"Wiki Live Challenge {layout.root.name}"
        ),
        agents=tuple(registered[agent] for agent in wanted),
        articles=tuple(articles),
        assignments=tuple(
            _make_assignment(edition, a.article, listed[a.article]) for a in articles
        ),
        facts=tuple(facts),
        extractions=tuple(extractions),
        issues=issues.rows(),
    )


def read_agent(root: Path, edition: str, agent: str, articles: Collection[str]) -> AgentReports:
    """Read an agent's reports on the articles with these ids, with their claims and pages.

    Raises:
        EditionError: no edition, or the agent has no reports in it.
    """
    layout = Layout.open(root)
    registered = read_agents(layout, edition)
    _refuse_unknown(layout, [agent], registered)
    return AgentReader(layout, registered[agent], frozenset(articles)).read()


def _refuse_unknown(layout: Layout, wanted: Sequence[str], known: Collection[str]) -> None:
    for agent in wanted:
        if agent not in known:
            raise EditionError(
                f"There is no agent {agent!r} in {layout.root / 'test_data'}: expected a folder "
                f"with md_data in it. {suggest_names(agent, known)}"
            )


def _make_assignment(edition: str, article: str, entry: ListedArticle) -> Assignment:
    return Assignment(
        edition=edition,
        assignment=article,
        article=article,
        prompt=entry.prompt,
        prompt_sha=None if entry.prompt is None else content_sha(entry.prompt),
    )


def _read_articles(
    layout: Layout, listed: dict[str, ListedArticle], edition: str, issues: Issues
) -> list[Article]:
    texts = layout.list_files(ARTICLES, ".md")
    raw = layout.list_files(RAW_PAGES, ".json")
    articles = []
    for name, entry in listed.items():
        path = texts.get(name, f"{ARTICLES}/{name}.md")
        text = issues.read(layout.read_text, path, f"The article {name} is left out")
        if text is None:
            continue
        _remark_on_metadata(entry, path, issues)
        page_id = _read_page_id(layout, raw[name], issues) if name in raw else None
        articles.append(_make_article(edition, name, entry, text, page_id))
    for name in sorted(set(texts) - set(listed)):
        issues.add_remark(
            texts[name],
            "unlisted_article",
            f"{texts[name]} is left out: the list of articles does not name it.",
        )
    return articles


def _make_article(
    edition: str, article: str, entry: ListedArticle, text: str, page_id: int | None
) -> Article:
    return Article(
        edition=edition,
        article=article,
        page_id=page_id,
        text=text,
        text_sha=content_sha(text),
        **entry.model_dump(exclude={"prompt", "unread"}),
    )


def _remark_on_metadata(entry: ListedArticle, path: str, issues: Issues) -> None:
    if entry.promoted_before_created:
        issues.add_remark(
            path,
            "dates_contradict",
            f"{entry.title} was promoted on {entry.promoted_on}, before it was created "
            f"({entry.created_at}). Both dates are kept as published.",
        )
    if entry.unread:
        issues.add_remark(
            path,
            "unread_metadata",
            f"{entry.title}: {', '.join(entry.unread)} of the list of articles could not be read "
            "and stay empty. Correct the list and import again.",
        )


def _read_page_id(layout: Layout, path: str, issues: Issues) -> int | None:
    """Read the article's page id on Wikipedia from its raw page."""
    try:
        page_id = get_wiki_page(layout.read_json(path)).get("pageid")
    except UnreadableFileError as error:
        issues.add_remark(path, error.kind, f"The article has no page id: {error}")
        return None
    return page_id if type(page_id) is int else None


def _read_facts(
    layout: Layout, articles: Sequence[Article], issues: Issues
) -> tuple[list[Fact], list[Extraction]]:
    files = layout.list_files(STATEMENTS, "_statements.json")
    facts: list[Fact] = []
    extractions: list[Extraction] = []
    for article in articles:
        path = files.get(article.article)
        texts = _read_fact_texts(layout, path, issues) if path else []
        if texts:
            facts.extend(_make_facts(article, texts))
            extractions.append(
                Extraction(
                    edition=article.edition,
                    agent="",
                    assignment=article.article,
                    source="published",
                    extractor_version=EXTRACTOR_VERSION,
                    input_sha=article.text_sha,
                    output_sha=content_sha(*texts),
                    n_items=len(texts),
                )
            )
    return facts, extractions


def _read_fact_texts(layout: Layout, path: str, issues: Issues) -> list[str]:
    """Read the published facts. If there are none, add a remark and return nothing: they are then
    extracted offline from the article."""
    parsed = issues.read(
        lambda path: parse_statement_texts(layout.read_json(path)),
        path,
        "Facts are extracted offline instead",
    )
    if parsed is None:
        return []
    texts, n_unusable = parsed
    if not texts:
        issues.add_remark(path, "no_facts", f"{path} has no facts; they are extracted offline.")
    elif n_unusable:
        issues.add_remark(path, "unusable_facts", f"{path}: {n_unusable} records without a text.")
    return texts


def _make_facts(article: Article, texts: Sequence[str]) -> list[Fact]:
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
