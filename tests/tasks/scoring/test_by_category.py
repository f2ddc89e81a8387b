"""The mean over categories, and which cells questions and articles have."""

import csv
from pathlib import Path
from typing import get_args

import pytest

from tasks.claims import find_pending_extractions
from tasks.imports.answers import import_answers
from tasks.imports.wlc import import_edition
from tasks.judging.cells import plan_cells
from tasks.planning.stages import count_stages
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.scoring.pending import SCORER_VERSION
from tasks.scoring.rows import build_leaderboard_rows
from tasks.warehouse.results import Score
from tasks.warehouse.store import Warehouse
from tasks.warehouse.truths import QuestionCategory, TruthClaim, TruthSettings, make_ground_truth
from tasks.warehouse.writer import Change
from tests.flows.llm_runs import ROOT, SAMPLE
from tests.scripted_judge import ScriptedJudge
from tests.tasks.benchmarks.questions_builder import (
    import_questions,
    perfect,
    write_answers,
    write_questions,
)

CATEGORIES: tuple[QuestionCategory, ...] = get_args(QuestionCategory)
PUBLISHED = ROOT / "../shared/data/published/livedr_f1.csv"


def scored(
    warehouse: Warehouse, values: list[tuple[QuestionCategory, float | None]], n_open: int = 0
) -> tuple[float | None, float | None, bool]:
    """Headline, mean over questions and whether it is provisional, of claim_f1."""
    truths = [
        make_ground_truth(
            "e", f"q{n}", category, "published", (TruthClaim(value="A"),), TruthSettings()
        )
        for n, (category, _) in enumerate(values)
    ]
    version = f"{SCORER_VERSION}/{get_protocol('claim_discovery').version}"
    scores = [
        Score(
            edition="e", protocol="claim_discovery", agent="a", assignment=f"q{n}", judge="j",
            metric="claim_f1", value=value, numerator=value, n_items=value is not None,
            n_open=n_open if value is None else 0, state="done", scorer_version=version,
        )
        for n, (_, value) in enumerate(values)
    ]  # fmt: skip
    warehouse.write(Change(type(truths[0]), truths), Change(Score, scores))
    [row] = build_leaderboard_rows(warehouse, "e", [get_protocol("claim_discovery")])
    return row.value, row.macro, row.provisional


@pytest.mark.parametrize(
    ("values", "n_open", "found"),
    [
        # The mean over categories, beside that over questions.
        ([("entities", 1.0), ("entities", 0.0), ("entities", 0.5), ("flights", 0.0)], 0,
         (0.25, 0.375, False)),
        # A question without a value is in no mean and leaves the figure provisional.
        ([("entities", 0.5), ("flights", None)], 2, (0.5, 0.5, True)),
        ([("entities", None)], 0, (None, None, False)),
    ],
)  # fmt: skip
def test_the_headline_is_the_mean_over_categories(
    values: list[tuple[QuestionCategory, float | None]],
    n_open: int,
    found: tuple[float | None, float | None, bool],
    warehouse: Warehouse,
) -> None:
    assert scored(warehouse, values, n_open) == found


@pytest.mark.published
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published tables are not here")
@pytest.mark.parametrize(
    ("agent", "said_is_the_mean"),
    [("openai_dr", True), ("deepresearcher", True), ("perplexity_dr", False), ("gemini_dr", False)],
)
def test_the_paper_s_average_is_the_mean_of_its_eight_categories_for_two_of_four_agents(
    agent: str, said_is_the_mean: bool, warehouse: Warehouse
) -> None:
    # The printed averages of the other two are .011 and .022 above the mean of their own rows.
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        table = {row["category"]: float(row[agent]) for row in csv.DictReader(file)}
    average = table.pop("Average")
    assert len(table) == len(CATEGORIES)
    value, _, _ = scored(warehouse, list(zip(CATEGORIES, table.values(), strict=True)))
    assert value == pytest.approx(sum(table.values()) / 8)
    assert (value == pytest.approx(average, abs=0.0006)) is said_is_the_mean


def test_each_protocol_plans_only_the_kinds_it_judges(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_edition(warehouse, SAMPLE, "sample", ["sample_sketch"])
    import_questions(warehouse, write_questions(tmp_path / "live.json"), "live")
    import_answers(warehouse, write_answers(tmp_path / "a.json", perfect()), "live", "a")
    counted = {
        (edition, name): len(plan_cells(warehouse, edition, get_protocol(name), ScriptedJudge()))
        for edition in ("sample", "live")
        for name in PROTOCOLS
        if name in ("wiki_fact", "wiki_writing", "claim_discovery")
    }
    assert counted == {
        ("sample", "wiki_fact"): 3, ("sample", "wiki_writing"): 3, ("sample", "claim_discovery"): 0,
        ("live", "wiki_fact"): 0, ("live", "wiki_writing"): 0, ("live", "claim_discovery"): 9,
    }  # fmt: skip
    assert find_pending_extractions(warehouse, "live") == []
    monkeypatch.setattr("tasks.verdicts.load_judge", lambda name: ScriptedJudge())
    stages = {row.stage: row for row in count_stages(warehouse, "live", "scripted")}
    assert stages["verdicts claim_discovery"].pending == 9
    assert "verdicts wiki_fact" not in stages
    assert (stages["facts"].pending, stages["claims"].pending) == (0, 0)
    wiki = {row.stage for row in count_stages(warehouse, "sample", "scripted")}
    assert "verdicts claim_discovery" not in wiki


def test_a_changed_truth_or_answer_is_another_cell(warehouse: Warehouse, tmp_path: Path) -> None:
    import_questions(warehouse, write_questions(tmp_path / "live.json"), "live")
    import_answers(warehouse, write_answers(tmp_path / "a.json", perfect()), "live", "a")

    def cells() -> dict[str, str]:
        plans = plan_cells(warehouse, "live", get_protocol("claim_discovery"), ScriptedJudge())
        return {plan.assignment: plan.cell_id for plan in plans}

    before = cells()
    settings = TruthSettings(question="Another?")
    truth = make_ground_truth("live", "geo", "scifacts-geo", "published", (TruthClaim(value="A"),),
                         settings)  # fmt: skip
    warehouse.write(Change(type(truth), [truth]))
    answer = [{"key": "mat", "preds": [[]]}]
    import_answers(warehouse, write_answers(tmp_path / "b.json", answer), "live", "a")
    trace = [{"key": "peer", "preds": perfect()[4]["preds"], "trace": [{"query": "x"}]}]
    import_answers(warehouse, write_answers(tmp_path / "c.json", trace), "live", "a")
    changed = {key for key, cell in cells().items() if before[key] != cell}
    assert changed == {"geo", "mat", "peer"}
