"""The published tables, counted by hand from the published rules."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.publishing.drb2 import (
    TABLES,
    BatchUsage,
    FailedResult,
    ItemScore,
    ReportResult,
    TaskInfo,
    compute_figures,
    render_table,
    sum_usage,
)

NO_USE = sum_usage(())


def result(**scores: list[int]) -> ReportResult:
    """Items by dimension, with these scores."""
    kept = {
        dimension: {
            f"{dimension} {number}": ItemScore(score=score, reason="", evidence="")
            for number, score in enumerate(of_dimension)
        }
        for dimension, of_dimension in scores.items()
    }
    return ReportResult(task="t", scores=kept, usage_summary=NO_USE, usage_metadata_per_batch=())


def test_shares_are_of_all_items_and_a_minus_one_is_in_the_denominator() -> None:
    found = compute_figures(result(info_recall=[1, 1, 0, -1], analysis=[1, 0], presentation=[]))
    assert found == {
        "inforecall": 0.5, "analysis": 0.5, "presentation": None, "total": 0.5, "blocked": 1 / 6,
    }  # fmt: skip
    assert compute_figures(FailedResult(error="batch 2 failed")) == dict.fromkeys(TABLES)


def shares(**values: float | None) -> dict[str, float | None]:
    return dict.fromkeys(TABLES) | values


def test_best_models_and_tasks_come_first_and_means_stand_at_the_end() -> None:
    """alpha: 1/2 and 1/4, mean .375; beta: 1, mean 1; task 7: mean .75, task 12: .25."""
    reports = {
        ("alpha", 7): shares(total=0.5), ("alpha", 12): shares(total=0.25),
        ("beta", 7): shares(total=1.0), ("beta", 9): shares(),
    }  # fmt: skip
    tasks = {
        7: TaskInfo(language="zh", theme="Law, & order"),
        12: TaskInfo(language="en", theme="Health"),
    }
    assert render_table("total", reports, tasks) == (
        "idx,language,theme,beta,alpha,avg\r\n"
        '7,zh,"Law, & order",1.000000,0.500000,0.750000\r\n'
        "12,en,Health,,0.250000,0.250000\r\n"
        "9,,,,,\r\n"
        "avg,,,1.000000,0.375000,0.583333\r\n"
    )


def test_between_equals_models_stand_by_name_and_tasks_as_they_came() -> None:
    equal = {(model, idx): shares(blocked=0.0) for model in ("b", "a") for idx in (3, 1, 2)}
    rows = render_table("blocked", equal, {}).split("\r\n")
    assert rows[0] == "idx,language,theme,a,b,avg"
    assert [line.split(",")[0] for line in rows[1:4]] == ["3", "1", "2"]


def test_a_report_s_tokens_are_the_sums_over_its_batches() -> None:
    batch = BatchUsage(
        promptTokenCount=10, candidatesTokenCount=4, thoughtsTokenCount=3, totalTokenCount=17
    )
    assert sum_usage((batch, batch)).model_dump() == {
        "total_tokens": 34, "input_tokens": 20, "output_tokens": 8, "thoughts_tokens": 6,
    }  # fmt: skip


KEYS = st.tuples(st.sampled_from("abc"), st.integers(1, 9))
VALUES = st.none() | st.floats(0, 1)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=12))
def test_every_report_is_in_its_cell_and_a_blank_changes_no_mean(
    values: dict[tuple[str, int], float | None],
) -> None:
    rows = read(render_table("total", {key: shares(total=v) for key, v in values.items()}, {}))
    for (model, idx), value in values.items():
        assert rows[str(idx)][model] == ("" if value is None else f"{value:.6f}")
    fewer = {key: shares(total=value) for key, value in values.items() if value is not None}
    if fewer:
        assert read(render_table("total", fewer, {}))["avg"].items() <= rows["avg"].items()


def read(text: str) -> dict[str, dict[str, Any]]:
    head, *lines = (line.split(",") for line in text.removesuffix("\r\n").split("\r\n"))
    return {line[0]: dict(zip(head[3:], line[3:], strict=True)) for line in lines}


def test_no_name_is_lost_in_a_table_of_csv() -> None:
    odd = 'a "model", of\nlines'
    text = render_table("total", {(odd, 1): shares(total=1.0)}, {})
    assert text.startswith('idx,language,theme,"a ""model"", of\nlines",avg\r\n')


@pytest.mark.parametrize("name", TABLES)
def test_each_table_can_be_made_of_reports_without_figures(name: str) -> None:
    text = render_table(name, {("a", 1): shares()}, {})
    assert text == "idx,language,theme,a,avg\r\n1,,,,\r\navg,,,,\r\n"
