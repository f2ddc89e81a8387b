"""Key points and support by the offline judge, against recorded labels of a model."""

import asyncio
import json
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.offline.weights import load_weights
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.verify_support import VerifySupport
from tasks.metrics.agreement import accuracy, cohen_kappa
from tasks.warehouse.rows import Status

SHARED = Path(__file__).resolve().parents[5] / "shared" / "data"
JUDGE = OfflineJudge()
needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="shared data not mounted")


@cache
def recorded() -> list[tuple[bool, JudgeAnswer]]:
    """Whether GPT-4.1-mini said `Supported`, and what the judge says: 1,542 key points."""
    labelled = defaultdict(list)
    found: list[tuple[bool, JudgeAnswer]] = []
    for line in (SHARED / "calibration" / "key_points.jsonl").read_text("utf-8").splitlines():
        point = json.loads(line)
        labelled[point["system"], point["question"]].append(point)
    for line in (SHARED / "calibration" / "reports.jsonl").read_text("utf-8").splitlines():
        report = json.loads(line)
        points = labelled[report["system"], report["question"]]
        texts = tuple(point["key_point"] for point in points)
        request = CheckPoints(question="", report=report["report"], points=texts)
        answers = asyncio.run(JUDGE.decide(request))
        said = (point["label"] == "Supported" for point in points)
        found += zip(said, answers, strict=True)
    return found


@needs_data
def test_on_recorded_key_points_it_agrees_as_its_weights_file_says() -> None:
    """The file states 71.1 % and kappa 0.38 on questions that were held out. Over all of them,
    which it was fitted to, it is a little better: 73.0 % and 0.43."""
    labels = [supported for supported, _ in recorded()]
    said = [answer.label == "supported" for _, answer in recorded()]
    (stated,) = [a for task, a in load_weights()[0].held_out.items() if "key points" in task]
    assert stated.n == len(labels) == 1542
    agreed = accuracy(labels, said) or 0.0
    assert agreed == pytest.approx(0.7302, abs=0.0005)
    assert cohen_kappa(labels, said) == pytest.approx(0.4283, abs=0.0005)
    assert stated.accuracy <= agreed <= stated.accuracy + 0.03


REPORT = "# Tower\n\nThe tower opened in 1889 to visitors [1]. It is made of iron."


def test_a_point_is_supported_or_omitted_and_never_contradicted() -> None:
    points = ("The tower opened in 1889.", "The tower opened in 1906.", "Whales sing.", "…")
    answers = asyncio.run(JUDGE.decide(CheckPoints(question="", report=REPORT, points=points)))
    assert [a.label for a in answers] == ["supported", "omitted", "omitted", None]
    assert answers[0].evidence == "The tower opened in 1889 to visitors ."
    assert answers[3].status is Status.NOT_ASSESSED


def test_support_is_full_or_none_over_all_pages_together() -> None:
    claims = ("The tower opened in 1889.", "It is made of iron.", "Whales sing in 1889.")
    pages = ("The tower opened in 1889.", "It is made of iron.")
    answers = asyncio.run(JUDGE.decide(VerifySupport(claims=claims, pages=pages)))
    assert [a.label for a in answers] == ["full", "full", "none"]
    assert all("full or none, never partial" in str(a.reason) for a in answers)


def test_pages_without_readable_text_are_no_evidence() -> None:
    answers = asyncio.run(JUDGE.decide(VerifySupport(claims=("A claim.",), pages=("***", " "))))
    assert [(a.status, a.label) for a in answers] == [(Status.UNFETCHABLE, None)]
