"""LiveDRBench's published format: read in all three kinds of file, and refused in plain words."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.livedrbench import read_livedrbench
from tasks.benchmarks.research import PublishedQuery, PublishedTruth
from tests.tasks.benchmarks.questions_builder import (
    CANARY,
    QUESTIONS,
    obfuscate,
    rows,
    write_questions,
)


def truth(question: PublishedQuery) -> PublishedTruth:
    assert question.truth is not None
    return question.truth


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=100), st.text(min_size=1, max_size=40))
def test_the_disguise_is_base64_over_xor_with_the_canary_s_sha(text: str, canary: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "copy.json"
        hidden = obfuscate(json.dumps([text]), canary)
        path.write_text(json.dumps([rows()[0] | {"ground_truths": hidden, "misc": {},
                                                 "canary": canary}]))  # fmt: skip
        [question] = read_livedrbench(path)
    assert truth(question).settings.published == (text,)


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".parquet"])
def test_questions_are_read_from_every_kind_of_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"copy{suffix}"
    if suffix == ".parquet":
        pl.DataFrame(rows()).write_parquet(path)
    elif suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows())) + "\n", "utf-8")
    else:
        write_questions(path)
    found = read_livedrbench(path)
    assert [q.key for q in found] == sorted(key for key, *_ in QUESTIONS)
    truths = {key: (category, truths) for key, category, truths, _ in QUESTIONS}
    assert {
        q.key: (truth(q).category, list(truth(q).settings.published or ())) for q in found
    } == truths
    extract = next(q for q in found if q.key == "extract")
    assert truth(extract).settings.eval_info.primary_keys == ("model",)
    assert truth(extract).settings.eval_info.ignore_keys == ("url",)
    assert extract.query == truth(extract).settings.question == "What is asked in extract?"


INFO = {"main_claims": ["flight"]}


@pytest.mark.parametrize(
    "misc",
    [
        obfuscate(json.dumps({"eval_info": INFO}), CANARY),
        {"eval_info": INFO},
        {"eval_info": obfuscate(json.dumps(INFO), CANARY)},
        json.dumps({"eval_info": obfuscate(json.dumps(INFO), CANARY), "source": "x"}),
    ],
)
def test_the_scoring_settings_are_read_however_they_are_disguised(
    misc: Any, tmp_path: Path
) -> None:
    path = tmp_path / "copy.json"
    path.write_text(json.dumps([rows()[-1] | {"misc": misc}]), "utf-8")
    [question] = read_livedrbench(path)
    assert truth(question).settings.eval_info.main_claims == ("flight",)


Change = Callable[[dict[str, Any]], dict[str, Any]]
BROKEN: list[tuple[Change, str]] = [
    (lambda row: row | {"canary": "another"}, "'mat': `ground_truths` cannot be read with the row"),
    (lambda row: row | {"ground_truths": "%%%"}, "'mat': `ground_truths` cannot be read"),
    (lambda row: row | {"ground_truths": 3}, "'mat': `ground_truths` cannot be read"),
    (lambda row: row | {"ground_truths": obfuscate('{"a": 1}', CANARY)}, "is not a list"),
    (lambda row: row | {"misc": obfuscate("not JSON", CANARY)}, "'mat': `misc` cannot be read"),
    (lambda row: row | {"misc": {"eval_info": {"main_claims": 3}}}, "`misc.eval_info` is invalid"),
    (
        lambda row: row | {"category": "poetry"},
        "'mat': `category`: Input should be 'scifacts-.*; found 'poetry'",
    ),
    (lambda row: row | {"question": " "}, "'mat': `question`: expected some words; found ' '"),
    (lambda row: row | {"canary": ""}, "`canary`: it is empty, so the ground truth cannot be read"),
    (lambda row: row | {"key": 7}, "row 1: `key`: expected a text"),
    (lambda row: {k: v for k, v in row.items() if k != "misc"}, "'mat': `misc`: it is missing"),
    (
        lambda row: {"key": "mat", "misc": 3},
        "`question`, `ground_truths`, `canary`: they are missing",
    ),
]


@pytest.mark.parametrize(("change", "says"), BROKEN)
def test_a_broken_row_is_named_by_file_and_key_and_tells_no_truth(
    change: Change, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "copy.json"
    path.write_text(json.dumps([change(rows()[0])]), "utf-8")
    with pytest.raises(EditionError, match=says) as caught:
        read_livedrbench(path)
    assert str(path) in str(caught.value)
    assert "zinc" not in str(caught.value).lower()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_key_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    path.write_text(json.dumps([rows()[0], rows()[0]]), "utf-8")
    with pytest.raises(EditionError, match="'mat' is there twice"):
        read_livedrbench(path)
