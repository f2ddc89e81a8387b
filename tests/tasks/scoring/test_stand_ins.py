"""A board says for which judge its judge stands, and whether anybody measured that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.scoring.board_notes import describe_stand_ins
from tasks.warehouse.labels import AnnotationItem, HumanLabel
from tasks.warehouse.results import Score, Verdict
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

LITE, FLASH = "gemini-3.5-flash-lite", "gemini-2.5-flash"
KEY = {"edition": "e", "agent": "a", "assignment": "x"}
STANDS = (
    "In Wiki Fact Gemini 3.5 Flash-Lite stands for Gemini 2.5 Flash (Wiki Live Challenge's judge "
    "of facts), which ends on 2026-12-01; "
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Warehouse]:
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        yield opened


def judge_items(store: Warehouse, judge: str, *labels: str | None) -> None:
    """Write a judge's verdicts on items 1, 2 …; None: without a usable answer."""
    score = Score(**KEY, protocol="wiki_fact", metric="ref_acc", judge=judge, value=0.5,
                  state="done", scorer_version="1", cell_id=judge)  # fmt: skip
    verdicts = [
        Verdict(**KEY, protocol="wiki_fact", judge=judge, step="citation", item=f"{number}",
                label=label, status="ok" if label else "unparsable", cell_id=judge,
                model_version=judge, prompt_sha="p")
        for number, label in enumerate(labels, 1)
    ]  # fmt: skip
    store.write(Change(Score, [score]), Change(Verdict, verdicts))


def test_a_successor_that_nobody_measured_is_said_to_be_not_measured(store: Warehouse) -> None:
    judge_items(store, LITE, "consistent")
    said = describe_stand_ins(store, LITE, {"wiki_fact", "wiki_writing"})
    assert said == f"{STANDS}its agreement with that judge and with people is not measured."


def test_its_agreement_counts_what_both_decided(store: Warehouse) -> None:
    judge_items(store, LITE, "consistent", "not_support", "consistent", None, "consistent")
    judge_items(store, FLASH, "consistent", "consistent", None, "consistent")
    said = describe_stand_ins(store, LITE, ["wiki_fact"])
    assert said == f"{STANDS}it agrees with that judge on 50% of 2 items."


def test_people_count_too(store: Warehouse) -> None:
    judge_items(store, LITE, "consistent", "not_support")
    items = [
        AnnotationItem(**KEY, sheet="s", item_id=f"i{n}", number=n, kind="claims", asked="?",
                       protocol="wiki_fact", step="citation", item=f"{n}", left_side="",
                       right_side="", content_sha="", seed=1)
        for n in (1, 2, 3)
    ]  # fmt: skip
    labels = [
        HumanLabel(sheet="s", item_id=f"i{n}", annotator="ada", label="consistent")
        for n in (1, 2, 3)
    ]
    store.write(Change(AnnotationItem, items), Change(HumanLabel, labels))
    said = describe_stand_ins(store, LITE, ["wiki_fact"])
    assert said == f"{STANDS}it agrees with people on 50% of 2 items."


@pytest.mark.parametrize(
    ("judge", "protocol"),
    [("offline", "wiki_fact"), (FLASH, "wiki_fact"), (LITE, "wiki_writing"), (LITE, "rubric")],
)
def test_no_other_judge_stands_for_one(store: Warehouse, judge: str, protocol: str) -> None:
    assert describe_stand_ins(store, judge, [protocol]) == ""
