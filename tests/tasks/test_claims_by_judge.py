"""Statements that a judge extracted get the pages that their markers lead to."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.claims import extract_statements
from tasks.extraction.claims import ExtractedClaims, cite_statements, extract_claims
from tasks.judging.session import judge_session
from tasks.pending.extractions import find_pending_extractions
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact
from tasks.warehouse.store import open_warehouse
from tests.servers.gemini import GeminiServer
from tests.servers.serving import serving
from tests.tasks.annotated import SAMPLE, sample_warehouse

A, B = "https://a.org/x", "https://b.org/y"
LIST = f"\n\n## References\n[1] {A}\n[2] {B}\n"
REPORTS = sorted(SAMPLE.glob("test_data/*/md_data/*.md"))
JUDGE = "gemini-3.8-flash"


def urls(extracted: ExtractedClaims) -> list[tuple[str, list[str]]]:
    return [(claim.text, [c.url for c in claim.citations]) for claim in extracted.claims]


def cited_again(title: str, text: str, offline: ExtractedClaims) -> ExtractedClaims:
    """What a judge would hand over that finds the same statements and markers."""
    stated = [
        (claim.text, list(dict.fromkeys(c.marker for c in claim.citations)))
        for claim in offline.claims
    ]
    return cite_statements(title, text, stated)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: f"{path.parts[-3]} {path.stem}")
def test_the_same_markers_lead_to_the_same_pages_as_offline(path: Path) -> None:
    text, title = path.read_text("utf-8"), path.stem.replace("_", " ")
    offline = extract_claims(title, text)
    assert offline.claims
    again = cited_again(title, text, offline)
    assert urls(again) == urls(offline)
    assert [c.kind for claim in again.claims for c in claim.citations] == ["explicit"] * sum(
        len(claim.citations) for claim in offline.claims
    )


def test_most_of_the_sample_cites_something() -> None:
    assert sum(bool(extract_claims(p.stem, p.read_text("utf-8")).n_markers) for p in REPORTS) >= 3


SHAPES = [
    ("[1]", [A]),
    ("[1][2]", [A, B]),
    ("[1, 2]", [A, B]),
    ("[1-2]", [A, B]),
    ("[^2]", [B]),
    ("【1†source】", [A]),
    ("<sup>2</sup>", [B]),
    ("[the site](https://c.org/z)", ["https://c.org/z"]),
    ("https://c.org/z", ["https://c.org/z"]),
]


@pytest.mark.parametrize(("marker", "pages"), SHAPES)
def test_a_marker_of_any_shape_leads_to_its_pages(marker: str, pages: list[str]) -> None:
    text = f"# Ants\n\nAnts are small insects {marker}. They live nearly everywhere.{LIST}"
    found = cite_statements("Ants", text, [("Ants are small.", [marker]), ("They live.", [])])
    assert urls(found) == [("Ants are small.", pages), ("They live.", [])]
    assert found.pairs_reliable


REPORT = f"# Ants\n\nAnts are small insects [1]. They live nearly everywhere [2].{LIST}"


@pytest.mark.parametrize(
    "marker",
    ["[3]", "[12]", "(1)", "https://evil.org/page", "[x](https://evil.org)", "", "insects", "[1"],
)
def test_a_marker_that_does_not_stand_in_the_text_leads_nowhere(marker: str) -> None:
    found = cite_statements("Ants", REPORT, [("Ants are small.", [marker])])
    assert urls(found) == [("Ants are small.", [])]
    assert not found.pairs_reliable


def test_a_marker_without_a_page_leads_nowhere_and_the_others_still_do() -> None:
    text = REPORT.replace("small insects [1]", "small insects [1][7]")
    found = cite_statements("Ants", text, [("Ants are small.", ["[7]", "[1]", "[9]"])])
    assert urls(found) == [("Ants are small.", [A])]


def test_a_page_named_twice_is_cited_once() -> None:
    text = REPORT.replace("[1].", f"[1] {A}.")
    found = cite_statements("Ants", text, [("Ants are small.", ["[1]", A, "[1]"])])
    assert {url for _, cited in urls(found) for url in cited} == {A}


def rows_after(path: Path) -> tuple[Sequence[Claim], Sequence[Citation], Sequence[Extraction],
                                    Sequence[Fact], int]:  # fmt: skip
    """A judge extracts what nobody has published; what the warehouse then holds."""

    async def extract() -> int:
        async with judge_session(warehouse, JUDGE) as session:
            extractor = session.judge
            items = find_pending_extractions(warehouse, "sample", extractor=extractor)
            for agent in sorted({item.agent for item in items}):
                mine = [item for item in items if item.agent == agent]
                await extract_statements.fn(warehouse, agent, mine, judge=JUDGE)
            return len(find_pending_extractions(warehouse, "sample", extractor=extractor))

    with open_warehouse(path) as warehouse:
        left = asyncio.run(extract())
        by_judge = "source = 'judge'"
        return (
            warehouse.rows(Claim, by_judge),
            warehouse.rows(Citation, "true"),
            warehouse.rows(Extraction, by_judge),
            warehouse.rows(Fact, by_judge),
            left,
        )


def test_a_judge_extracts_what_is_missing_and_leaves_what_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = GeminiServer()
    with serving(server) as address:
        monkeypatch.setenv("GEMINI_API_KEY", "test-key")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", address)
        claims, citations, extractions, facts, left = rows_after(sample_warehouse(tmp_path))
    assert left == 0
    # Published: two articles' facts of three, and one agent's claims of three.
    assert len(extractions) == 1 + 6 == server.log.summary()["answered"]
    assert {claim.agent for claim in claims} == {"sample_blogger", "sample_sketch"}
    assert len({fact.article for fact in facts}) == 1
    assert {e.extractor_version.split()[0] for e in extractions} == {JUDGE}
    for extraction in extractions:
        if extraction.agent:
            key = (extraction.agent, extraction.assignment)
            assert extraction.n_items == sum((c.agent, c.assignment) == key for c in claims) > 0
            assert extraction.n_pairs == sum((c.agent, c.assignment) == key for c in citations)
