"""Published files that hold one object a row: JSON (a list), JSON lines or Parquet."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from tasks.benchmarks.errors import EditionError
from tasks.configuration.wording import expected

MAX_FILE_BYTES = 200_000_000
JSON_LINES = (".jsonl", ".ndjson")
SHOWN = 60
"""Characters of a value that is not as it should be."""
PUBLISHED = "Expected the published form: name the data set's own file, or mend this one."
ModelT = TypeVar("ModelT", bound=BaseModel)


def read_value(path: Path) -> Any:
    """What a JSON, JSON lines or Parquet file holds; of the last two a list of objects.

    Raises:
        EditionError: no such file, too large, or none of these.
    """
    if path.is_dir():
        raise EditionError(f"{path} is a folder. Name the data set's file in it.")
    if not path.is_file():
        raise EditionError(f"{path}: there is no such file. Name your copy of the data set's file.")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise EditionError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes: that is no such file.")
    try:
        return _read(path)
    except (OSError, ValueError, RecursionError, pl.exceptions.PolarsError) as error:
        kind = type(error).__name__
        raise EditionError(
            f"{path} cannot be read as JSON, JSON lines or Parquet ({kind}). Fetch it afresh."
        ) from None


def read_rows(path: Path, columns: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows of a file; whether each has all columns is for its reader to say.

    columns: as they are published, for the message.

    Raises:
        EditionError: as `read_value`, or it holds no list of objects.
    """
    rows = read_value(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise EditionError(
            f"{path}: expected a list of rows with the columns {', '.join(columns)}."
        )
    return rows


def checked(
    where: object, row: Mapping[str, Any], model: type[ModelT], advice: str = PUBLISHED
) -> ModelT:
    """A row as what it should be.

    where: the file and the row, for the message.
    advice: what to do if it is something else.

    Raises:
        EditionError: it is something else; names the first wrong field, and what stands there.
    """
    try:
        return model.model_validate(dict(row))
    except ValidationError as error:
        raise unreadable(where, error, advice=advice) from None


def unreadable(
    where: object, error: ValidationError, inside: str = "", advice: str = PUBLISHED
) -> EditionError:
    """The first of what is wrong, in words; `inside`: the field whose value was looked at."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in (inside, *problem["loc"]) if part != "")
    value = problem["input"]
    if problem["type"] != "missing":
        found = f"found {_shown(value)}"
    elif isinstance(value, dict):
        found = f"found only {', '.join(map(repr, sorted(map(str, value))))[:SHOWN] or 'nothing'}"
    else:
        found = "found nothing"
    return EditionError(f"{where}: `{place}`: {expected(problem)}; {found}. {advice}")


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return f"a {type(value).__name__} of {len(value):,}"
    said = str(value)
    return repr(said if len(said) <= SHOWN else f"{said[:SHOWN]}…")


def _read(path: Path) -> Any:
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_dicts()
    text = path.read_text("utf-8-sig")
    if path.suffix in JSON_LINES:
        # Not splitlines(), which also splits at characters that JSON allows inside a string.
        lines = enumerate(text.split("\n"), start=1)
        return [_line(path, number, line) for number, line in lines if line.strip()]
    return json.loads(text)


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EditionError(
            f"{path}: line {number} cannot be read as JSON ({error}). Fetch the file afresh."
        ) from None
