"""Wiki Writing: one comparison per category, pooled over criteria."""

import asyncio

import polars as pl

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import CompareArticles
from tasks.judges.registry import judge as judge_named
from tasks.protocols.case import Case, Judged
from tasks.protocols.wiki_writing import WikiWriting
from tasks.warehouse.rows import Article, Report
from tests.scripted_judge import ScriptedJudge

PROTOCOL = WikiWriting(load_protocol("wiki_writing"))
ARTICLE = Article(edition="e", article="x", title="X", url="u", text="Short.", text_sha="0")
REPORT = Report(
    edition="e",
    agent="a",
    assignment="x",
    text="A longer text[1].\n\n## References\n[1] https://example.org",
    text_sha="1",
    source_path="x.md",
)


def test_all_39_criteria_are_decided_in_three_comparisons() -> None:
    judge = ScriptedJudge()
    decided = asyncio.run(PROTOCOL.judge(Case(article=ARTICLE, report=REPORT), judge))
    assert [len(r.criteria) for r in judge.asked if isinstance(r, CompareArticles)] == [21, 8, 10]
    assert len({item.item for item in decided}) == 39


def test_the_reference_comes_first_and_neither_shows_its_citations() -> None:
    judge = ScriptedJudge()
    asyncio.run(PROTOCOL.judge(Case(article=ARTICLE, report=REPORT), judge))
    request = judge.asked[0]
    assert isinstance(request, CompareArticles)
    assert request.first == "Short."
    assert request.second == "A longer text."


def test_wins_are_pooled_over_criteria() -> None:
    labels = ["second"] * 2 + ["first"] * 37
    steps = ["well_written"] * 21 + ["broad_coverage"] * 8 + ["neutral"] * 10
    judged = Judged(
        reports=pl.DataFrame({"assignment": ["x"], "state": ["done"]}),
        verdicts=pl.DataFrame({"assignment": "x", "step": steps, "label": labels, "status": "ok"}),
        claims=pl.DataFrame(),
    )
    frame = PROTOCOL.figures(judged, ScriptedJudge())
    found = {r["metric"]: (r["numerator"], r["n_items"]) for r in frame.iter_rows(named=True)}
    assert found == {
        "writing_overall": (2.0, 39),
        "writing_well_written": (2.0, 21),
        "writing_neutral": (0.0, 10),
        "writing_broad": (0.0, 8),
    }


def test_the_offline_judge_does_not_assess_writing() -> None:
    assert not PROTOCOL.assesses(judge_named("offline"))
