"""Recorded verdicts give the published figures, exactly."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.warehouse.rows import Status
from tests.rigs.recorded_verdicts import read_citations, read_verifiability, read_writing

RECORDED = Path(__file__).resolve().parents[4] / "shared" / "data" / "wlc" / "recorded_verdicts"
published = [
    pytest.mark.published,
    pytest.mark.skipif(
        not RECORDED.exists(), reason="the recorded verdicts are not at ../shared/data/wlc"
    ),
]


class TestPublishedFigures:
    pytestmark = published

    def test_two_of_39_writing_criteria_go_to_the_report(self) -> None:
        verdicts = read_writing(RECORDED / "writing.json")
        labels = Counter(verdict.label for verdict in verdicts)
        assert labels == {"reference": 37, "report": 2}
        assert round(labels["report"] / len(verdicts), 4) == 0.0513
        assert {verdict.item for verdict in verdicts if verdict.label == "report"} == {
            "bc_3",
            "ww_cc_3",
        }

    def test_verifiability_counts_are_the_published_ones(self) -> None:
        verdicts = read_verifiability(RECORDED / "verifiability.json")
        counts = Counter((verdict.step, verdict.label) for verdict in verdicts)
        assert counts["conflict", "consistent"] == 53
        assert counts["conflict", "inconsistent"] == 19
        assert counts["coverage", "consistent"] == 30
        assert Counter(verdict.step for verdict in verdicts) == {"conflict": 135, "coverage": 72}

    def test_95_of_195_evaluated_citations_support_and_7_of_202_had_no_page(self) -> None:
        verdicts = read_citations(RECORDED / "citation.json")
        assert Counter(verdict.status for verdict in verdicts) == {
            Status.OK: 195,
            Status.UNFETCHABLE: 7,
        }
        labels = Counter(verdict.label for verdict in verdicts if verdict.status is Status.OK)
        assert labels == {"support": 95, "not_support": 86, "conflict": 14}
        assert round(labels["support"] / 195, 4) == 0.4872

    def test_every_item_is_named_once(self) -> None:
        for verdicts in (
            read_writing(RECORDED / "writing.json"),
            read_verifiability(RECORDED / "verifiability.json"),
            read_citations(RECORDED / "citation.json"),
        ):
            names = [(verdict.step, verdict.item) for verdict in verdicts]
            assert len(set(names)) == len(names)


CITED = {"statement_index": 1, "statement": "It opened.", "verdict": "support"}


def written(folder: Path, content: Any) -> Path:
    path = folder / "recording.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_an_unknown_winner_is_refused_by_name(tmp_path: Path) -> None:
    entry = {"criterion_id": "n_1", "criterion_text": "Fair.", "winner": "tie"}
    path = written(tmp_path, {"details": {"Neutral": [entry]}})
    with pytest.raises(ValidationError, match=r"Neutral\.0\.winner"):
        read_writing(path)


def test_a_verdict_that_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, {"coverage_alignments": [{"gt_sentence": "x"}], "alignments": []})
    with pytest.raises(ValidationError, match=r"coverage_alignments\.0\.verify"):
        read_verifiability(path)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ({"results": []}, "total_statements"),
        ({"total_statements": 1}, "results"),
        ({"total_statements": 1, "results": [CITED]}, "statement_index"),
        ([], "object"),
    ],
)
def test_a_malformed_citation_file_is_refused_by_name(
    tmp_path: Path, content: Any, named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        read_citations(written(tmp_path, content))


def test_a_statement_without_a_verdict_is_unfetchable(tmp_path: Path) -> None:
    verdicts = read_citations(written(tmp_path, {"total_statements": 2, "results": [CITED]}))
    assert [(v.item, v.status, v.label) for v in verdicts] == [
        ("claim:0", Status.UNFETCHABLE, None),
        ("claim:1", Status.OK, "support"),
    ]
