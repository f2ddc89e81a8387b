"""Files of answers to questions: predictions in LiveDRBench's format, or one file per question.

A prediction is `{"key", "preds"}`, or `{"key", "answer"}` with the agent's raw answer. Both may
have a `trace`, the list of search steps. In a folder, each `.json`, `.md` or `.txt` file is the
answer to the question whose key is its name.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tasks.benchmarks.errors import EditionError
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.traces import TRACE, SearchStep

SUFFIXES = frozenset({".json", ".md", ".txt"})
MAX_FILE_BYTES = 200_000_000
MAX_STEPS = 5_000


@dataclass(frozen=True)
class ImportedAnswer:
    """An agent's answer to a question."""

    key: str
    text: str
    source: str
    """The file's path in the imported folder."""
    trace: tuple[SearchStep, ...] | None = None


def read_answers(path: Path) -> list[ImportedAnswer]:
    """Read the answers in a file or folder, sorted by key.

    Raises:
        EditionError: there are no answers, or not in a known format; names the file and the key.
    """
    if path.is_dir():
        given = list(_read_folder(path))
    elif path.is_file():
        given = [_parse_prediction(path, n, row) for n, row in enumerate(_read_rows(path), start=1)]
    else:
        raise EditionError(f"{path}: there is no such file or folder of answers.")
    found: dict[str, ImportedAnswer] = {}
    for answer in given:
        if answer.key in found:
            raise EditionError(f"{path}: key {answer.key!r} is answered twice. Remove one.")
        found[answer.key] = answer
    if not found:
        raise EditionError(
            f"{path} has no answers; expected a list of predictions (key, preds), or a folder "
            "of <key>.json, <key>.md or <key>.txt."
        )
    return [found[key] for key in sorted(found)]


def _read_folder(folder: Path) -> Iterator[ImportedAnswer]:
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix in SUFFIXES:
            yield ImportedAnswer(file.stem, _read_text(file), file.name)


def _read_rows(path: Path) -> list[Any]:
    text = _read_text(path)
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


def _parse_prediction(path: Path, number: int, row: Any) -> ImportedAnswer:
    key = row.get("key") if isinstance(row, dict) else None
    if not isinstance(key, str) or not key:
        raise EditionError(f"{path}: prediction {number} has no `key`.")
    if "preds" not in row and not isinstance(row.get("answer"), str):
        raise EditionError(f"{path}: key {key!r} has neither `preds` nor a text `answer`.")
    text = row["answer"] if "preds" not in row else _dump_prediction(key, row["preds"])
    trace = None if row.get("trace") is None else _parse_trace(path, key, row["trace"])
    return ImportedAnswer(replace_surrogates(key), replace_surrogates(text), path.name, trace)


def _dump_prediction(key: str, preds: Any) -> str:
    return json.dumps({"key": key, "preds": preds}, ensure_ascii=False)


def _parse_trace(path: Path, key: str, steps: Any) -> tuple[SearchStep, ...]:
    try:
        trace = TRACE.validate_python(steps)
    except ValidationError as error:
        at = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise EditionError(
            f"{path}: key {key!r}: `trace` is not a list of steps (query, opened, parent): error "
            f"at {at or 'the top level'}."
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


def _read_text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise EditionError(f"{file} is larger than {MAX_FILE_BYTES:,} bytes.")
        return replace_surrogates(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise EditionError(
            f"{file} cannot be read as UTF-8 text ({type(error).__name__})."
        ) from None
