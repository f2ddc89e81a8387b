"""Questions with an answer each, put to the protocol and scored at once."""

import json
from typing import Any

import polars as pl

from tasks.configuration.models import load_protocol
from tasks.extraction.claim_layouts import build_truth_claims
from tasks.protocols.case import ANSWER_SCHEMA, Case, ItemAnswer
from tasks.protocols.claim_discovery.protocol import ClaimDiscovery
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.truths import (
    EvalInfo,
    GroundTruth,
    TruthClaim,
    TruthSettings,
    make_ground_truth,
)
from tests.scripted_judge import ScriptedJudge
from tests.tasks.benchmarks.questions_builder import QUESTIONS, perfect
from tests.tasks.protocols.framed import decided, framed, report, value_of

PROTOCOL = ClaimDiscovery(load_protocol("claim_discovery"))
BY_KEY = {key: (category, truths, info) for key, category, truths, info in QUESTIONS}
PERFECT = {row["key"]: row["preds"] for row in perfect()}


def published(key: str, **more: Any) -> GroundTruth:
    category, truths, info = BY_KEY[key]
    kept = TruthSettings(
        question="What?", published=tuple(truths), eval_info=EvalInfo.model_validate(info or {}),
        **more,
    )  # fmt: skip
    claims = build_truth_claims(category, kept)
    return make_ground_truth("e", key, category, "published", claims, kept)  # type: ignore[arg-type]


def inverted(*truths: TruthClaim) -> GroundTruth:
    return make_ground_truth(
        "e", "q", "entities", "inverted", truths, TruthSettings(question="Who?")
    )


def case(truth: GroundTruth, answer: Any, trace: str | None = None) -> Case:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    kept = SearchTrace(edition="e", agent="a", assignment=truth.assignment, trace=trace or "[]",
                       trace_sha="t", source="imported")  # fmt: skip
    return Case(report=report(text, truth.assignment), truth=truth, trace=kept if trace else None)


def judged_by(
    judge: ScriptedJudge, of: Case, protocol: ClaimDiscovery = PROTOCOL
) -> tuple[list[ItemAnswer], dict[str, Any]]:
    """The decisions, and per metric (value, open items, reason)."""
    said = decided(protocol, of, judge)
    assert of.truth
    truth, trace = of.truth, of.trace.trace if of.trace else None
    answer = (of.report.assignment, of.report.text, truth.category, truth.truths, truth.settings,
              trace)  # fmt: skip
    answers = pl.DataFrame([answer], schema=ANSWER_SCHEMA, orient="row")
    found = framed({of.report.assignment: said}, [of]).model_copy(update={"answers": answers})
    rows = protocol.compute_figures(found, judge).iter_rows(named=True)
    return said, {r["metric"]: (value_of(r), r["n_open"], r["reason"]) for r in rows}


def prf(figures: dict[str, Any], kind: str) -> tuple[float | None, ...]:
    return tuple(figures[f"{kind}_{name}"][0] for name in ("precision", "recall", "f1"))
