"""The published edition itself, read in place: every count in it is known."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.benchmarks.reports import AgentReports
from tasks.benchmarks.wlc import PublishedEdition, read_agent, read_wlc

ROOT = Path(__file__).resolve().parents[5] / "shared" / "data" / "wlc" / "2025_Mar_Nov"

pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(not ROOT.is_dir(), reason="the published edition is not in ../shared"),
]


@pytest.fixture(scope="module")
def frame() -> PublishedEdition:
    return read_wlc(ROOT, "2025_Mar_Nov")


@pytest.fixture(scope="module")
def agents(frame: PublishedEdition) -> dict[str, AgentReports]:
    return dict(_all_agents(frame))


def _all_agents(frame: PublishedEdition) -> Iterator[tuple[str, AgentReports]]:
    ids = [article.article for article in frame.articles]
    for agent in frame.agents:
        yield agent.agent, read_agent(ROOT, frame.edition.edition, agent.agent, ids)


def test_the_frame_has_its_published_counts(frame: PublishedEdition) -> None:
    assert len(frame.articles) == len(frame.assignments) == len(frame.extractions) == 69
    assert len(frame.agents) == 8
    assert len(frame.facts) == 10_225
    assert all(
        a.page_id and a.created_at and a.promoted_on and a.bytes and a.views and a.category
        for a in frame.articles
    )
    assert [(i.kind, i.path) for i in frame.issues] == [
        ("dates_contradict", "wiki_data/cleaned_data/article/Multo_(song).md")
    ]


def test_every_report_goes_in_with_its_status(agents: dict[str, AgentReports]) -> None:
    reports = [report for found in agents.values() for report in found.reports]
    assert len(reports) == 552
    assert [(r.agent, r.assignment, r.status) for r in reports if r.status != "ok"] == [
        ("grok", "Robert_Jacomb-Hood", "empty"),
        ("langchain_w_gpt5", "Everyone_Hates_Elon", "clarification"),
    ]


def test_three_agents_have_their_published_claims(agents: dict[str, AgentReports]) -> None:
    counts = {name: (len(a.claims), len(a.extractions)) for name, a in agents.items() if a.claims}
    assert counts == {
        "gemini_3_pro": (4_886, 64),
        "langchain_w_gpt4.1": (2_904, 69),
        "openai": (6_898, 69),
    }
    assert sum(n for n, _ in counts.values()) == 14_688


def test_no_key_of_any_table_comes_twice(agents: dict[str, AgentReports]) -> None:
    for found in agents.values():
        for rows in (found.reports, found.claims, found.citations, found.extractions, found.pages):
            keys = [tuple(getattr(row, name) for name in row.key) for row in rows]
            assert len(keys) == len(set(keys))


def test_issues_have_their_published_counts(agents: dict[str, AgentReports]) -> None:
    issues = [issue for found in agents.values() for issue in found.issues]
    assert {issue.severity for issue in issues} == {"remark"}
    assert Counter(issue.kind for issue in issues) == {
        "clarification": 1,
        "empty": 1,
        "foreign_url": 30,
        "no_address": 4,
        "no_json": 5,
        "no_pages": 29,
        "undeclared_citations": 2,
    }


def test_reports_whose_claims_cannot_be_joined_to_urls_say_so(
    agents: dict[str, AgentReports],
) -> None:
    unreliable = [e for a in agents.values() for e in a.extractions if not e.pairs_reliable]
    assert Counter(e.agent for e in unreliable) == {"langchain_w_gpt4.1": 16, "openai": 3}
    assert all(e.pairs_reason for e in unreliable)
    assert {e.assignment for e in unreliable if e.n_pairs} == {"2025_Somerset–London_tornado"}


def test_the_third_url_of_parasitic_ant_is_a_misspelling_and_no_pair(
    agents: dict[str, AgentReports],
) -> None:
    cited = [
        c.raw_url
        for c in agents["gemini_3_pro"].citations
        if (c.assignment, c.number) == ("Parasitic_ant", 0)
    ]
    assert cited == [
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC8463886/",
        "https://www.antwiki.org/wiki/Social_Parasitism",
    ]


def test_titles_of_pages_are_readable(agents: dict[str, AgentReports]) -> None:
    titles = {page.title for page in agents["gemini_3_pro"].pages}
    assert "Juche" in titles
    assert "SnVjaGU=" not in titles
