"""Statements that a judge extracted get the pages that their markers lead to."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.claims import CLAIMS, find_pending_extractions
from tasks.extraction.claims import ExtractedClaims, extract_claims
from tasks.extraction.texts import (
    CITING,
    PendingExtraction,
    build_claims_request,
    build_extractor_version,
    cite_statements,
)
from tasks.judges.registry import load_judge
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import SAMPLE, sample_warehouse
from tests.tasks.answering import JUDGE, server
from tests.tasks.runs import do_pending

A, B = "https://a.org/x", "https://b.org/y"
LIST = f"\n\n## References\n[1] {A}\n[2] {B}\n"
REPORTS = sorted(SAMPLE.glob("test_data/*/md_data/*.md"))
__all__ = ["server"]


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
    kinds = [(c.kind, o.kind) for claim, known in zip(again.claims, offline.claims, strict=True)
             for c, o in zip(claim.citations, known.citations, strict=True)]  # fmt: skip
    same = sum(kind == known for kind, known in kinds)
    assert same >= 0.9 * len(kinds), kinds


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

    def extract() -> int:
        extractor = load_judge(JUDGE)
        items = find_pending_extractions(warehouse, "sample", extractor=extractor)
        for error in do_pending(warehouse, CLAIMS, "sample", items, judge=JUDGE):
            raise error
        return len(find_pending_extractions(warehouse, "sample", extractor=extractor))

    with open_warehouse(path) as warehouse:
        left = extract()
        by_judge = "source = 'judge'"
        return (
            warehouse.rows(Claim, by_judge),
            warehouse.rows(Citation, "true"),
            warehouse.rows(Extraction, by_judge),
            warehouse.rows(Fact, by_judge),
            left,
        )


def test_a_judge_extracts_what_is_missing_and_leaves_what_was_published(
    tmp_path: Path, server: GeminiServer
) -> None:
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


APART = f"# Ants\n\nAnts are small insects.\n\nThey live nearly everywhere [2]. So do bees.{LIST}"
STATED = [
    ("Ants are small insects.", ["[2]"]),
    ("They live nearly everywhere.", ["[2]"]),
    ("So do bees.", ["[2]"]),
]


@pytest.mark.parametrize(
    ("by_attribution", "kinds"),
    [(False, ["inferred", "explicit", "inferred"]),
     (True, ["attributed", "explicit", "attributed"])],
)  # fmt: skip
def test_what_a_judge_attributes_counts_as_such_and_a_marker_it_inherited_does_not(
    by_attribution: bool, kinds: list[str]
) -> None:
    found = cite_statements("Ants", APART, STATED, by_attribution=by_attribution)
    assert [c.kind for claim in found.claims for c in claim.citations] == kinds
    # Only addresses and markers that stand in the report are sources.
    evil = [("Ants are small insects.", ["https://evil.org", "[7]"]), STATED[1]]
    assert urls(cite_statements("Ants", APART, evil, by_attribution=by_attribution)) == [
        ("Ants are small insects.", []), ("They live nearly everywhere.", [B]),
    ]  # fmt: skip


def test_claims_without_attributed_sources_cite_nothing_and_that_is_known() -> None:
    nothing: list[tuple[str, Sequence[str]]] = [(text, ()) for text, _ in STATED[:2]]
    assert cite_statements("Ants", APART, nothing, by_attribution=True).pairs_reliable
    assert not cite_statements("Ants", APART, nothing).pairs_reliable
    lost = cite_statements("Ants", "Ants are small [1].", [("Ants are small.", ["[1]"])],
                           by_attribution=True)  # fmt: skip
    assert not lost.pairs_reliable


def test_research_reports_are_extracted_by_deepresearchgyms_prompt_articles_by_the_other() -> None:
    item = {"edition": "e", "agent": "a", "assignment": "x", "article": "", "title": "Why?"}
    research = PendingExtraction(**item, kind="research")
    article = PendingExtraction(**item, kind="write_article")
    assert build_claims_request(research, "t").prompt == "research_extraction/claims"
    assert build_claims_request(article, "t").prompt == "extraction/claims"
    judge = load_judge(JUDGE)
    versions = {
        build_extractor_version(judge, of_reports=reports, by_attribution=by)
        for reports, by in ((True, True), (True, False), (False, False))
    }
    assert len(versions) == 3


def test_a_new_way_to_find_pages_reads_old_answers_again_and_buys_none(
    tmp_path: Path, server: GeminiServer
) -> None:
    path = sample_warehouse(tmp_path)
    _, _, before, *_ = rows_after(path)
    bought = server.log.summary()["answered"]
    with open_warehouse(path) as warehouse:
        old = [
            row.model_copy(update={"extractor_version": row.extractor_version[: -len(CITING)]})
            for row in before
            if row.agent
        ]
        warehouse.write(Change(Extraction, old))
    _, _, after, *_ = rows_after(path)
    assert server.log.summary()["answered"] == bought

    def outputs(rows: Sequence[Extraction]) -> dict[tuple[str, str], tuple[str, str]]:
        return {(e.agent, e.assignment): (e.output_sha, e.extractor_version) for e in rows}

    assert outputs(after) == outputs(before)  # so Wiki Fact's cells are the same


def test_claims_of_the_earlier_offline_extractor_are_extracted_again_with_the_same_sha(
    tmp_path: Path,
) -> None:
    def extract() -> Sequence[Extraction]:
        for item in find_pending_extractions(warehouse, "sample"):
            assert do_pending(warehouse, CLAIMS, "sample", [item]) == []
        assert find_pending_extractions(warehouse, "sample") == []
        return warehouse.rows(Extraction, "source = 'offline' AND agent <> ''")

    with open_warehouse(sample_warehouse(tmp_path)) as warehouse:
        before = extract()
        pairs = warehouse.rows(Citation, "kind <> 'published'")
        assert {pair.kind for pair in pairs} >= {"explicit", "paragraph"}
        old = [row.model_copy(update={"extractor_version": "offline-1"}) for row in before]
        kinds = {"paragraph": "inferred"}  # as it named them
        known = [p.model_copy(update={"kind": kinds.get(p.kind, p.kind)}) for p in pairs]
        warehouse.write(Change(Extraction, old), Change(Citation, known))
        assert len(find_pending_extractions(warehouse, "sample")) == len(before) > 0
        assert [e.output_sha for e in extract()] == [e.output_sha for e in before]
        assert warehouse.rows(Citation, "kind <> 'published'") == pairs
