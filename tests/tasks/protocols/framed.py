"""Protocols on a few reports: a judge that answers as it is told, and its verdicts as frames."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from tasks.base import Frozen
from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.protocols.case import RUBRIC_SCHEMA, Case, ItemAnswer, JudgedReports, Protocol
from tasks.warehouse.rows import Report, Status
from tasks.warehouse.rubrics import RubricBundle

Says = Callable[[Any], Sequence[JudgeAnswer]]


class Told:
    """Answers each kind of decision by a function of it; decides no other."""

    name = "told"
    model_version = "told-1"
    reads: frozenset[str] = frozenset()
    sees_conflict = True
    lexical = False
    cpu_bound = False

    def __init__(self, says: Mapping[type[DecisionRequest], Says]) -> None:
        self.says = says
        self.decides: frozenset[type[Frozen]] = frozenset(says)
        self.asked: list[Any] = []

    def prompt_sha(self, protocol: str) -> str:
        return f"sha-of-{protocol}"

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        return ()

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        return self.says[type(request)](request)


def ok(label: str) -> JudgeAnswer:
    return JudgeAnswer(status=Status.OK, label=label)


def failed(status: Status = Status.JUDGE_ERROR) -> JudgeAnswer:
    return JudgeAnswer(status=status, reason="told to fail")


def report(text: str = "A report.", assignment: str = "x", agent: str = "a") -> Report:
    return Report(
        edition="e", agent=agent, assignment=assignment, text=text, text_sha=text, source_path="x"
    )


def decided(protocol: Protocol, case: Case, judge: Any) -> list[ItemAnswer]:
    return asyncio.run(protocol.judge(case, judge))


def framed(
    by_report: Mapping[str, Sequence[ItemAnswer]],
    cases: Sequence[Case] = (),
    unreliable: str | None = None,
) -> JudgedReports:
    """Verdicts by assignment as scoring gets them; with the rubrics and bundles of the cases.

    unreliable: why the citations of all reports cannot be told, if they cannot.
    """
    rubrics = [rubric for case in cases for rubric in case.rubric]
    bundles = [case.bundle for case in cases if case.bundle]
    return JudgedReports(
        reports=pl.DataFrame(
            [(key, "done", None, unreliable is None, unreliable) for key in by_report],
            schema={"assignment": pl.String, "state": pl.String, "state_reason": pl.String,
                    "pairs_reliable": pl.Boolean, "pairs_reason": pl.String},
            orient="row",
        ),
        verdicts=pl.DataFrame(
            [
                (key, d.step, d.item, str(d.answer.status), d.answer.label, d.answer.score)
                for key, all_of in by_report.items()
                for d in all_of
            ],
            schema={**dict.fromkeys(("assignment", "step", "item", "status", "label"), pl.String),
                    "score": pl.Float64},
            orient="row",
        ),
        claims=pl.DataFrame(),
        rubrics=pl.DataFrame(
            [tuple(getattr(rubric, name) for name in RUBRIC_SCHEMA) for rubric in rubrics],
            schema=RUBRIC_SCHEMA, orient="row",
        ),
        bundles=_bundles(bundles),
    )  # fmt: skip


def _bundles(bundles: Sequence[RubricBundle]) -> pl.DataFrame:
    rows = [(bundle.assignment, bundle.settings) for bundle in bundles]
    return pl.DataFrame(rows, schema={"assignment": pl.String, "settings": pl.String}, orient="row")


def values(
    protocol: Protocol, judged: JudgedReports, judge: Any
) -> dict[tuple[str, str], float | None]:
    """(assignment, metric) → value."""
    return {
        (row["assignment"], row["metric"]): row["numerator"] / row["n_items"]
        if row["numerator"] is not None and row["n_items"]
        else None
        for row in protocol.compute_figures(judged, judge).iter_rows(named=True)
    }
