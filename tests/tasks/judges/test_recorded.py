"""Recordings of verdicts: what is not of their form is refused by name.

What figures they give is for tests/tasks/protocols/test_recorded_figures.py to show.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.warehouse.rows import Status
from tests.rigs.recorded_verdicts import read_citations, read_verifiability, read_writing

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
