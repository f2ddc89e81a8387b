"""Recorded verdicts, scored as a judge's output, give the published figures exactly."""

from pathlib import Path

import pytest

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.protocols.case import ItemAnswer, Protocol
from tasks.protocols.wiki_fact.protocol import WikiFact
from tasks.protocols.wiki_writing import WikiWriting
from tests.rigs.recorded_verdicts import (
    RecordedVerdict,
    read_citations,
    read_verifiability,
    read_writing,
)
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import citing, scored

RECORDED = Path(__file__).resolve().parents[4] / "shared" / "data" / "wlc" / "recorded_verdicts"
pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(
        not RECORDED.exists(), reason="the recorded verdicts are not at ../shared/data/wlc"
    ),
]
CATEGORIES = {"ww": "well_written", "bc": "broad_coverage", "n": "neutral"}


def shares(
    protocol: Protocol, verdicts: list[RecordedVerdict], steps: list[str]
) -> dict[str, tuple[float | None, int]]:
    assert len({(v.step, v.item) for v in verdicts}) == len(verdicts), "every item is named once"
    said = [
        ItemAnswer(step=step, item=v.item, answer=JudgeAnswer(status=v.status, label=v.label))
        for v, step in zip(verdicts, steps, strict=True)
    ]
    rows = scored(protocol, citing([]), ScriptedJudge(), said)
    return {metric: (row["numerator"], row["n_items"]) for metric, row in rows.items()}


def test_writing_is_2_of_39() -> None:
    verdicts = read_writing(RECORDED / "writing.json")
    won = {verdict.item for verdict in verdicts if verdict.label == "report"}
    assert won == {"bc_3", "ww_cc_3"}
    steps = [CATEGORIES[verdict.item.split("_")[0]] for verdict in verdicts]
    found = shares(WikiWriting(load_protocol("wiki_writing")), verdicts, steps)
    assert found["writing_overall"] == (2.0, 39)
    assert round(2 / 39, 4) == 0.0513
    assert found["writing_well_written"] == (1.0, 21)
    assert found["writing_broad"] == (1.0, 8)
    assert found["writing_neutral"] == (0.0, 10)


def wiki_fact(verdicts: list[RecordedVerdict]) -> dict[str, tuple[float | None, int]]:
    steps = [verdict.step for verdict in verdicts]
    return shares(WikiFact(load_protocol("wiki_fact")), verdicts, steps)


def test_verifiability_covers_30_of_72_facts_and_contradicts_in_19_of_135_claims() -> None:
    verdicts = read_verifiability(RECORDED / "verifiability.json")
    found = wiki_fact(verdicts)
    assert found["coverage_wiki"] == (30.0, 72)
    assert found["wiki_conflict"] == (19.0, 135)
    supported = [v for v in verdicts if v.step == "conflict" and v.label == "consistent"]
    assert len(supported) == 53


def test_citations_support_95_and_conflict_in_14_of_195_evaluated_claims() -> None:
    found = wiki_fact(read_citations(RECORDED / "citation.json"))
    assert found["ref_acc_readable"] == (95.0, 195)
    assert round(95 / 195, 4) == 0.4872
    assert found["ref_conflict"] == (14.0, 195)
    assert found["ref_acc_claims"] == (95.0, 202)
    assert found["evaluated_share"] == (195.0, 202)
