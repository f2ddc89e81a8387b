"""An agent that answered as several models is told, and which figures mix them."""

from pathlib import Path

import polars as pl
import pytest

from tasks.scoring.agent_models import add_models, describe_change, describe_models
from tasks.scoring.board_notes import describe_mixed_models
from tasks.warehouse.jobs import Job
from tasks.warehouse.results import Score
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

OLD, NEW = "writer-2026-10-01", "writer-2026-11-20"
BOTH = f"two models: 2 and 1 reports ({OLD}, {NEW})"


@pytest.mark.parametrize(
    ("answered", "described"),
    [
        ([OLD, OLD, NEW], BOTH),
        ([OLD, f"gateway/{OLD}", OLD.upper()], None),
        (["a/gpt-5", "GPT-5", "gpt-6"], "two models: 2 and 1 reports (a/gpt-5, gpt-6)"),
        ([OLD], None),
        ([], None),
        ([f"m{n}" for n in range(6)],
         "6 models: 1, 1, 1, 1 and 2 others' reports (m0, m1, m2, m3, …)"),
        (["a\u202e", "b\n"], "two models: 1 and 1 reports (a⟨U+202E⟩, b⟨U+000A⟩)"),
    ],
)  # fmt: skip
def test_models_are_described_if_they_are_several(
    answered: list[str], described: str | None
) -> None:
    assert describe_models(answered) == described


def test_a_change_is_told_once_for_each_model() -> None:
    assert describe_change([], OLD) is None
    assert describe_change([OLD], f"gateway/{OLD}") is None
    said = f"answered as {NEW}; earlier in this edition: 2 reports by {OLD}"
    assert describe_change([OLD, OLD], NEW) == said
    assert describe_change([OLD, OLD, NEW], NEW) is None
    assert describe_change([OLD, NEW], OLD) is None


def write_report(
    store: Warehouse, agent: str, assignment: str, model: str | None, value: float | None
) -> None:
    """Write a report of a job, whose first turn said another model; and its score."""
    of = {"edition": "e", "agent": agent, "assignment": assignment}
    turns = [
        Job(**of, job=f"{agent}-{assignment}-{turn}", attempt=attempt, turn=turn, kind="chat",
            parameters="{}", prompt="", prompt_sha="", state=state, model_version=name)
        for attempt, turn, state, name in (
            (1, 0, "abandoned", "given-up"), (2, 1, "done", "asks-back"), (2, 2, "done", model)
        )
    ]  # fmt: skip
    report = Report(**of, text="…", text_sha="", status="ok",
                    source_path=f"job {turns[-1].job}")  # fmt: skip
    score = Score(**of, protocol="wiki_fact", metric="ref_acc", judge="offline", value=value,
                  state="done", scorer_version="1")  # fmt: skip
    store.write(Change(Job, turns), Change(Report, [report]), Change(Score, [score]))


def test_a_figure_is_marked_that_mixes_models(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as store:
        for name, model in {"x": OLD, "y": OLD.upper(), "z": NEW}.items():
            write_report(store, "mixed", name, model, 0.5)
            write_report(store, "one", name, OLD, 0.5)
            write_report(store, "unvalued", name, model, None if name == "z" else 0.5)
            write_report(store, "unnamed", name, None if name == "z" else OLD, 0.5)
        agents = ["mixed", "one", "unvalued", "unnamed", "imported"]
        board = pl.DataFrame({"agent": agents}).with_columns(
            protocol=pl.lit("wiki_fact"), metric=pl.lit("ref_acc"), judge=pl.lit("offline"),
            n_reports=3,
        )  # fmt: skip
        marked = add_models(store, "e", board)
    assert dict(marked.select("agent", "models").iter_rows()) == dict.fromkeys(agents) | {
        "mixed": BOTH
    }
    note = describe_mixed_models(marked, {"mixed": "The Mixed"})
    assert note == f"§: The Mixed answered as {BOTH}."
    assert describe_mixed_models(marked.filter(pl.col("agent") != "mixed")) == ""
