"""Answers to questions from files: predictions as LiveDRBench has them, or a file per question.

A prediction is `{"key", "preds"}`, or `{"key", "answer"}` with the answer as the agent gave it;
either may carry a `trace`, the list of the search's steps. In a folder the name of each `.json`,
`.md` or `.txt` file is the question's key, its content the answer.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tasks.benchmarks.errors import EditionError
from tasks.warehouse.rows import storable
from tasks.warehouse.traces import TRACE, SearchStep

SUFFIXES = frozenset({".json", ".md", ".txt"})
MAX_FILE_BYTES = 200_000_000
MAX_STEPS = 5_000


@dataclass(frozen=True)
class GivenAnswer:
    """One agent's answer to one question."""

    key: str
    text: str
    source: str
    """Relative to what was imported."""
    trace: tuple[SearchStep, ...] | None = None


def read_answers(path: Path) -> list[GivenAnswer]:
    """Every answer of a file or folder, by key.

    Raises:
        EditionError: nothing there, or not in a known form; names the file and the key.
    """
    if path.is_dir():
        given = list(_of_folder(path))
    elif path.is_file():
        given = [_prediction(path, n, row) for n, row in enumerate(_rows(path), start=1)]
    else:
        raise EditionError(f"{path}: there is no such file or folder of answers.")
    found: dict[str, GivenAnswer] = {}
    for answer in given:
        if answer.key in found:
            raise EditionError(f"{path}: key {answer.key!r} is answered twice. Remove one.")
        found[answer.key] = answer
    if not found:
        raise EditionError(
            f"{path} holds no answers; expected a list of predictions (key, preds), or a folder "
            "of <key>.json, <key>.md or <key>.txt."
        )
    return [found[key] for key in sorted(found)]


def _of_folder(folder: Path) -> Iterator[GivenAnswer]:
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix in SUFFIXES:
            yield GivenAnswer(file.stem, _text(file), file.name)


def _rows(path: Path) -> list[Any]:
    text = _text(path)
    try:
        if path.suffix in (".jsonl", ".ndjson"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EditionError(
            f"{path} is not valid JSON ({type(error).__name__}); expected a list of predictions "
            '[{"key": …, "preds": […]}].'
        ) from None
    if not isinstance(rows, list):
        raise EditionError(f'{path}: expected a list of predictions [{{"key": …, "preds": […]}}].')
    return rows


def _prediction(path: Path, number: int, row: Any) -> GivenAnswer:
    key = row.get("key") if isinstance(row, dict) else None
    if not isinstance(key, str) or not key:
        raise EditionError(f"{path}: prediction {number} has no `key`.")
    if "preds" not in row and not isinstance(row.get("answer"), str):
        raise EditionError(f"{path}: key {key!r} has neither `preds` nor a text `answer`.")
    text = row["answer"] if "preds" not in row else _as_text(key, row["preds"])
    trace = None if row.get("trace") is None else _trace(path, key, row["trace"])
    return GivenAnswer(storable(key), storable(text), path.name, trace)


def _as_text(key: str, preds: Any) -> str:
    return json.dumps({"key": key, "preds": preds}, ensure_ascii=False)


def _trace(path: Path, key: str, steps: Any) -> tuple[SearchStep, ...]:
    try:
        trace = TRACE.validate_python(steps)
    except ValidationError as error:
        at = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise EditionError(
            f"{path}: key {key!r}: `trace` is no list of steps (query, opened, parent): at "
            f"{at or 'its top'}."
        ) from None
    if len(trace) > MAX_STEPS:
        raise EditionError(f"{path}: key {key!r}: `trace` has more than {MAX_STEPS:,} steps.")
    for index, step in enumerate(trace):
        if step.parent is not None and not 0 <= step.parent < index:
            raise EditionError(
                f"{path}: key {key!r}: `trace`: step {index} follows from step {step.parent}, "
                "which is not before it."
            )
    return trace


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise EditionError(f"{file} is larger than {MAX_FILE_BYTES:,} bytes.")
        return storable(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise EditionError(
            f"{file} cannot be read as UTF-8 text ({type(error).__name__})."
        ) from None
