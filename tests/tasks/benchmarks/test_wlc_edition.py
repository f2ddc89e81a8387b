"""Reading an edition's frame and its agents' reports, oddity by oddity."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.reports import AgentReports, report_status
from tasks.benchmarks.wlc import PublishedEdition, read_agent, read_wlc
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.rows import content_sha
from tests.tasks.benchmarks.edition_builder import ARTICLE, LONG, REPORT, TEXT, EditionBuilder

URL = "https://en.wikipedia.org/wiki/"
COLONY = "https://ants.example/colony"
QUESTION = "I am not sure which ant is meant. Could you please clarify the genus?"


@pytest.fixture
def built(tmp_path: Path) -> EditionBuilder:
    return EditionBuilder(tmp_path / "edition")


def frame(built: EditionBuilder) -> PublishedEdition:
    return read_wlc(built.root, "e")


def alpha(built: EditionBuilder, articles: tuple[str, ...] = (ARTICLE,)) -> AgentReports:
    return read_agent(built.root, "e", "alpha", articles)


def issue(found: PublishedEdition | AgentReports, kind: str) -> ImportIssue:
    (only,) = [i for i in found.issues if i.kind == kind]
    return only


Odd = Callable[[EditionBuilder], object]
LISTED = {"title": ARTICLE, "url": URL}
JSON = f"test_data/alpha/json_data/{ARTICLE}.json"


def two_reports(built: EditionBuilder) -> None:
    built.report("alpha", "Queen")
    built.document("alpha", "Queen", statements=[{"fact": "A"}])


def link_out(built: EditionBuilder) -> None:
    secret = built.root.parent / "secret.md"
    secret.write_text("secret")
    (built.root / "test_data/alpha/md_data/Queen.md").symlink_to(secret)


OF_FRAMES: dict[str, tuple[Odd, str, str, str]] = {
    "dates_contradict": (
        lambda built: built.articles(
            [LISTED | {"created_ts": "20250417212140", "ga_date": "2025-01-01"}]
        ), "remark", "", "",
    ),
    "unread_metadata": (
        lambda built: built.articles([LISTED | {"bytes": "many"}]), "remark", "", "bytes"
    ),
    "unlisted_article": (lambda built: built.article("Queen"), "remark", "article/Queen.md", ""),
}  # fmt: skip
"""By kind of issue: what is odd, how grave it is, how its path ends, what its message says."""
OF_REPORTS: dict[str, tuple[Odd, str, str, str]] = {
    "empty": (lambda built: built.report("alpha", ARTICLE, " \n"), "remark", "", ""),
    "clarification": (lambda built: built.report("alpha", ARTICLE, QUESTION), "remark", "", ""),
    "unknown_article": (lambda built: built.report("alpha", "Wasp"), "unreadable", "Wasp.md", ""),
    "not_utf8": (
        lambda built: built.report("alpha", "Queen", b"caf\xe9 noir"),
        "unreadable", "test_data/alpha/md_data/Queen.md", "0xe9 at offset 3; Save it as UTF-8",
    ),
    "missing_reports": (
        lambda built: None, "remark", "", "no report on 1 of 2 articles: Queen"
    ),
    "broken_json": (lambda built: built.write(JSON, '{"query": '), "unreadable", "", ""),
    "unknown_json": (lambda built: built.write(JSON, '{"rows": []}'), "unreadable", "", ""),
    "no_json": (two_reports, "remark", f"{ARTICLE}.md", ""),
    "json_without_report": (
        lambda built: built.document("alpha", "Queen", statements=[{"fact": "A"}]),
        "unreadable", "Queen.json", "",
    ),
    "no_claims": (
        lambda built: built.document(
            "alpha", ARTICLE, statements=[], citation_contents={"1": {"url": COLONY}}
        ), "remark", "", "",
    ),
    "no_pages": (
        lambda built: built.document(
            "alpha", ARTICLE, statements=[{"fact": "A"}], citation_contents={}
        ), "remark", "", "",
    ),
    "undeclared_citations": (
        lambda built: built.registry({"alpha": {"name": "Alpha", "has_citations": False}}),
        "remark", "", "yet 1 of 1 reports have URLs",
    ),
    "outside": (link_out, "unreadable", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", [*OF_FRAMES, *OF_REPORTS])
def test_what_is_odd_is_listed_and_the_rest_goes_in(built: EditionBuilder, kind: str) -> None:
    odd, severity, path, message = (OF_FRAMES | OF_REPORTS)[kind]
    odd(built)
    found = frame(built) if kind in OF_FRAMES else alpha(built, (ARTICLE, "Queen"))
    listed = issue(found, kind)
    assert listed.severity == severity
    assert listed.path.endswith(path)
    assert all(part in listed.message for part in message.split("; "))
    if isinstance(found, PublishedEdition):
        assert [article.article for article in found.articles] == [ARTICLE]
        return
    status = {r.assignment: r.status for r in found.reports}
    assert status[ARTICLE] == (kind if kind in ("empty", "clarification") else "ok")
    assert ("Queen" in status) == (kind == "no_json")
    if kind in ("broken_json", "unknown_json", "no_claims"):
        assert (found.claims, found.extractions) == ([], [])


def test_a_sound_edition_is_read_whole_and_without_issues(built: EditionBuilder) -> None:
    found = frame(built)
    assert [a.article for a in found.articles] == [ARTICLE]
    assert (found.articles[0].text, found.articles[0].page_id) == (TEXT, 7)
    assert found.articles[0].text_sha == content_sha(TEXT)
    assert [a.assignment for a in found.assignments] == [ARTICLE]
    assert [f.text for f in found.facts] == ["Parasitic ants live in colonies of other ants."]
    assert found.issues == ()
    reports = alpha(built)
    assert [(r.assignment, r.text, r.status) for r in reports.reports] == [(ARTICLE, REPORT, "ok")]
    assert reports.reports[0].source_path == f"test_data/alpha/md_data/{ARTICLE}.md"
    assert reports.extractions == []
    assert reports.issues == ()


def test_reading_twice_gives_equal_rows(built: EditionBuilder) -> None:
    built.document(
        "alpha",
        ARTICLE,
        statements=[{"fact": "A", "url": COLONY}],
        citation_contents={"2": {"url": COLONY, "content": LONG}, "1": {"url": COLONY}},
    )
    first, second = frame(built), frame(built)
    assert replace(second, edition=first.edition) == first
    assert alpha(built) == alpha(built)


@pytest.mark.parametrize("title", ["Meléndez–Quiñónez", "Dungka!", "Tony's [A] & (B) “C”"])
def test_titles_with_odd_characters_join_to_their_decomposed_files(
    built: EditionBuilder, title: str
) -> None:
    name = title.replace(" ", "_")
    built.articles([{"title": name, "url": URL}])
    built.article(normalize("NFD", name))
    built.report("alpha", normalize("NFD", name))
    assert [a.article for a in frame(built).articles] == [name]
    assert [r.assignment for r in alpha(built, (name,)).reports] == [name]


def test_an_article_without_its_text_is_listed_and_the_rest_goes_in(built: EditionBuilder) -> None:
    built.articles([{"title": ARTICLE, "url": URL}, {"title": "Queen", "url": URL}])
    found = frame(built)
    assert [a.article for a in found.articles] == [ARTICLE]
    assert found.issues[0].severity == "unreadable"
    assert found.issues[0].path == "wiki_data/cleaned_data/article/Queen.md"


def test_a_broken_raw_page_costs_only_the_page_id(built: EditionBuilder) -> None:
    built.write(f"wiki_data/raw_wiki/{ARTICLE}.json", "{")
    found = frame(built)
    assert found.articles[0].page_id is None
    assert issue(found, "broken_json").severity == "remark"


def test_facts_carry_an_extraction_of_the_article(built: EditionBuilder) -> None:
    (extraction,) = frame(built).extractions
    assert (extraction.agent, extraction.assignment, extraction.n_items) == ("", ARTICLE, 1)
    assert (extraction.source, extraction.extractor_version) == ("published", "published")
    assert extraction.input_sha == content_sha(TEXT)
    assert extraction.output_sha == content_sha("Parasitic ants live in colonies of other ants.")


@pytest.mark.parametrize("content", ["{", "[]", "null"])
def test_without_readable_facts_there_is_no_extraction_and_it_is_listed(
    built: EditionBuilder, content: str
) -> None:
    path = f"wiki_data/cleaned_data/statement/{ARTICLE}_statements.json"
    built.write(path, content)
    found = frame(built)
    assert (found.facts, found.extractions) == ((), ())
    assert [i.path for i in found.issues] == [path]


def test_only_the_agents_asked_for_are_read(built: EditionBuilder) -> None:
    built.report("beta", ARTICLE)
    assert [agent.agent for agent in read_wlc(built.root, "e").agents] == ["alpha", "beta"]
    assert [a.agent for a in read_wlc(built.root, "e", ["beta"]).agents] == ["beta"]
    assert [a.agent for a in frame(built).agents] == ["alpha", "beta"]


def test_an_unknown_agent_is_refused_with_the_known_ones(built: EditionBuilder) -> None:
    with pytest.raises(EditionError, match=r"no agent 'gamma' in .*Known: alpha"):
        read_wlc(built.root, "e", ["gamma"])
    with pytest.raises(EditionError, match=r"no agent '\.\.' in"):
        read_agent(built.root, "e", "..", [ARTICLE])


@pytest.mark.parametrize(
    "text",
    [
        f"# Ants\n\n{QUESTION}",
        f"{QUESTION} See https://ants.example/",
        QUESTION + " Ants." * 400,
        "Ants could you say live in colonies. Do they? They do.",
    ],
)
def test_a_report_that_happens_to_ask_something_stays_a_report(text: str) -> None:
    assert report_status(text) == "ok"


def test_pages_without_statements_leave_the_claims_to_offline_extraction(
    built: EditionBuilder,
) -> None:
    built.document("alpha", ARTICLE, citation_contents={"1": {"url": COLONY, "content": LONG}})
    found = alpha(built)
    assert [page.status for page in found.pages] == ["ok"]
    assert (found.claims, found.extractions, found.issues) == ([], [], ())


def test_an_extract_with_other_words_than_the_markdown_is_remarked_on(
    built: EditionBuilder,
) -> None:
    built.document("alpha", ARTICLE, statements=[{"fact": "A"}], extract="Bees dance for food.")
    assert issue(alpha(built), "extract_differs").severity == "remark"
    built.document("alpha", ARTICLE, statements=[{"fact": "A"}], extract="Ants live in colonies .")
    assert "extract_differs" not in {i.kind for i in alpha(built).issues}


def test_left_out_citations_are_counted_per_report(built: EditionBuilder) -> None:
    urls = [COLONY, "https://ants.example/invented", "liner notes"]
    built.document("alpha", ARTICLE, statements=[{"fact": "A", "url": urls}, {"fact": ""}])
    found = alpha(built)
    assert len(found.citations) == 1
    for kind in ("foreign_url", "no_address", "unusable_claims"):
        assert ": 1 " in issue(found, kind).message
