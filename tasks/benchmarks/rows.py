"""Reading of published files with one object per row: JSON (a list), JSON lines or Parquet."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from tasks.benchmarks.errors import EditionError
from tasks.configuration.wording import describe_expected

MAX_FILE_BYTES = 200_000_000
JSON_LINES = (".jsonl", ".ndjson")
MAX_VALUE_CHARS = 60
"""The most characters of a wrong value that a message shows."""
PUBLISHED = "Expected the published format: name the data set's own file, or fix this one."
ModelT = TypeVar("ModelT", bound=BaseModel)


def read_value(path: Path) -> Any:
    """Read a JSON file, or a JSON lines or Parquet file as a list of objects.

    Raises:
        EditionError: no such file, too large, or none of these formats.
    """
    if path.is_dir():
        raise EditionError(f"{path} is a folder. Name the data set's file in it.")
    if not path.is_file():
        raise EditionError(f"{path}: there is no such file. Name your copy of the data set's file.")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise EditionError(
            f"{path} is larger than {MAX_FILE_BYTES:,} bytes. Name the data set's own file."
        )
    try:
        return _read(path)
    except (OSError, ValueError, RecursionError, pl.exceptions.PolarsError) as error:
        kind = type(error).__name__
        raise EditionError(
            f"{path} cannot be read as JSON, JSON lines or Parquet ({kind}). Download it again."
        ) from None


def read_rows(path: Path, columns: Sequence[str]) -> list[Mapping[str, Any]]:
    """Read the rows of a file, without checking that each has all columns.

    columns: the published columns, for the message.

    Raises:
        EditionError: like `read_value`, or the file is not a list of objects.
    """
    rows = read_value(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise EditionError(
            f"{path}: expected a list of rows with the columns {', '.join(columns)}."
        )
    return rows


def validate_row(
    where: object, row: Mapping[str, Any], model: type[ModelT], advice: str = PUBLISHED
) -> ModelT:
    """Validate a row.

    Args:
        where: the file and the row, for the message.
        advice: what to do if it is invalid, for the message.

    Raises:
        EditionError: the row is invalid; the message names the first wrong field and its value.
    """
    try:
        return model.model_validate(dict(row))
    except ValidationError as error:
        raise validation_error(where, error, advice=advice) from None


def validation_error(
    where: object, error: ValidationError, inside: str = "", advice: str = PUBLISHED
) -> EditionError:
    """Describe the first error. inside: the field whose value was validated."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in (inside, *problem["loc"]) if part != "")
    value = problem["input"]
    if problem["type"] != "missing":
        found = f"found {_format_value(value)}"
    elif isinstance(value, dict):
        keys = ", ".join(map(repr, sorted(map(str, value))))[:MAX_VALUE_CHARS]
        found = f"found only {keys or 'nothing'}"
    else:
        found = "found nothing"
    return EditionError(f"{where}: `{place}`: {describe_expected(problem)}; {found}. {advice}")


def _format_value(value: object) -> str:
    if isinstance(value, dict | list):
        return f"a {type(value).__name__} of {len(value):,}"
    text = str(value)
    return repr(text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…")


def _read(path: Path) -> Any:
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_dicts()
    text = path.read_text("utf-8-sig")
    if path.suffix in JSON_LINES:
        # Not splitlines(), which also splits at characters that JSON allows inside strings.
        lines = enumerate(text.split("\n"), start=1)
        return [_parse_line(path, number, line) for number, line in lines if line.strip()]
    return json.loads(text)


def _parse_line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EditionError(
            f"{path}: line {number} cannot be read as JSON ({error}). Download the file again."
        ) from None
