"""Reading of published files with one object per row: JSON (a list), JSON lines or Parquet.

A benchmark is its row models and what it makes of them; everything else is here.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import polars as pl
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.configuration.wording import describe_expected
from tasks.files.opening import OutsideFile, SpecialFile, open_file
from tasks.warehouse.rows import replace_surrogates

MAX_FILE_BYTES = 200_000_000
JSON_LINES = (".jsonl", ".ndjson")
MAX_VALUE_CHARS = 60
"""The most characters of a wrong value that a message shows."""
MAX_NAME_CHARS = 80
"""The most characters of a row's key that a message shows."""
MAX_TEXT_CHARS = 20_000
"""The most characters of a query, rubric item or key point; published: some thousand."""
PUBLISHED = "Expected the published format: name the data set's own file, or fix this one."
DOWNLOAD = "Download it again, or name the data set's own file."
ModelT = TypeVar("ModelT", bound=BaseModel)

STORABLE = BeforeValidator(lambda text: replace_surrogates(text) if isinstance(text, str) else text)
"""Makes a text storable: without lone surrogates."""
PublishedText = Annotated[
    str, StringConstraints(strict=True, max_length=MAX_TEXT_CHARS, pattern=r"\S"), STORABLE
]
TrimmedText = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_TEXT_CHARS, pattern=r"\S", strip_whitespace=True),
    STORABLE,
]
LanguageCode = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]{2,3}$")]
TaskNumber = Annotated[StrictInt, Field(ge=0, le=999_999)]


class PublishedRow(Frozen):
    """A row of a published file, or a part of one; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def read_content(path: Path, advice: str, within: Path | None) -> bytes:
    """Read a file of at most MAX_FILE_BYTES; advice and within as in `read_value`.

    Raises:
        EditionError: no such file, not a regular file in the folder, or too large.
    """
    try:
        with open_file(path, within) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OutsideFile, SpecialFile) as error:
        raise EditionError(f"{path} is not read: {error}. Put the file itself there.") from None
    except OSError as error:
        raise EditionError(f"{path} cannot be read ({error.strerror or error}). {advice}") from None
    if len(content) > MAX_FILE_BYTES:
        raise EditionError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes. {advice}")
    return content


def read_value(path: Path, advice: str = DOWNLOAD, within: Path | None = None) -> Any:
    """Read a JSON file, or a JSON lines or Parquet file as a list of objects.

    Args:
        advice: what to do if it cannot be read, for the message.
        within: the folder that the user named, if it is not this file.

    Raises:
        EditionError: no such file, too large, or none of these formats.
    """
    if path.is_dir():
        raise EditionError(f"{path} is a folder. Name the data set's file in it.")
    if not path.exists():
        raise EditionError(f"{path}: there is no such file. Name your copy of the data set's file.")
    content = read_content(path, advice, within)
    try:
        return _parse(path, content, advice)
    except (OSError, ValueError, RecursionError, pl.exceptions.PolarsError) as error:
        kind = type(error).__name__
        raise EditionError(
            f"{path} cannot be read as JSON, JSON lines or Parquet ({kind}). {advice}"
        ) from None


def read_rows(
    path: Path, model: type[ModelT], key: str = "", within: Path | None = None
) -> list[ModelT]:
    """Read and validate the rows of a file.

    Raises:
        EditionError: like `read_value` and `validate_rows`.
    """
    return validate_rows(path, read_value(path, within=within), model, key)


def validate_rows(
    where: object, rows: object, model: type[ModelT], key: str = "", advice: str = PUBLISHED
) -> list[ModelT]:
    """Validate the rows of a file.

    Args:
        where: the file, for messages.
        key: the column by which messages name a row; without it, or a text in it, the row's number.
        advice: what to do if a row is invalid, for the message.

    Raises:
        EditionError: it is not a list of objects, or a row is invalid; the message names the file,
            the row, the field and its value.
    """
    expected = f"expected a list of rows with the columns {', '.join(_list_columns(model))}"
    if not isinstance(rows, list):
        raise EditionError(f"{where}: {expected}.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise EditionError(f"{where}: row {number} is no object; {expected}.")
    valid = []
    for number, row in enumerate(rows, start=1):
        value = row.get(key)
        named = f"{key} {value[:MAX_NAME_CHARS]!r}" if isinstance(value, str) else f"row {number}"
        valid.append(validate_row(f"{where}: {named}", row, model, advice))
    return valid


def index_rows(path: Path, rows: Sequence[ModelT], key: str) -> dict[Any, ModelT]:
    """Index rows by a column, in its order.

    Raises:
        EditionError: there are no rows, or two with the same value.
    """
    if not rows:
        raise EditionError(f"{path} has no rows. {PUBLISHED}")
    numbers: dict[Any, int] = {}
    for number, row in enumerate(rows, start=1):
        value = getattr(row, key)
        first = numbers.setdefault(value, number)
        if first != number:
            raise EditionError(
                f"{path}: {key} {value!r} is there twice, in rows {first} and {number}. Remove one."
            )
    return {value: rows[numbers[value] - 1] for value in sorted(numbers)}


def validate_row(
    where: object, row: Mapping[str, Any], model: type[ModelT], advice: str = PUBLISHED
) -> ModelT:
    """Validate a row.

    Args:
        where: the file and the row, for the message.
        advice: what to do if it is invalid, for the message.

    Raises:
        EditionError: the row is invalid; the message names the first wrong field and its value, or
            all fields that are missing beside it. An error of our own rules says all itself.
    """
    try:
        return model.model_validate(dict(row))
    except ValidationError as error:
        problem, *others = error.errors()
    place = ".".join(map(str, problem["loc"]))
    field = f"`{place}`: " if place else ""
    expected = describe_expected(problem)
    if problem["type"] == "value_error":
        raise EditionError(f"{where}: {field}{expected}.")
    value = problem["input"]
    if problem["type"] != "missing":
        found = f"found {format_value(value)}"
    elif isinstance(value, dict):
        keys = ", ".join(map(repr, sorted(map(str, value))))[:MAX_VALUE_CHARS]
        found = f"found only {keys or 'nothing'}"
    else:
        found = "found nothing"
    if beside := _list_missing_beside(problem, others):
        field, expected = f"`{'`, `'.join([place, *beside])}`: ", "they are missing"
    raise EditionError(f"{where}: {field}{expected}; {found}. {advice}")


def format_value(value: object) -> str:
    """Format a wrong value for a message: shortened, or the length of a list or object."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__} of {len(value):,}"
    text = str(value)
    return repr(text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…")


def _list_missing_beside(problem: ErrorDetails, others: Sequence[ErrorDetails]) -> list[str]:
    """List the other fields that the object with the missing field lacks."""
    if problem["type"] != "missing":
        return []
    parent = problem["loc"][:-1]
    lacking = [other["loc"] for other in others if other["type"] == "missing"]
    return [".".join(map(str, loc)) for loc in lacking if loc[:-1] == parent]


def _list_columns(model: type[BaseModel]) -> list[str]:
    aliases = {name: field.validation_alias for name, field in model.model_fields.items()}
    choices = {
        name: alias.choices if isinstance(alias, AliasChoices) else [alias or name]
        for name, alias in aliases.items()
    }
    return [" or ".join(map(str, named)) for named in choices.values()]


def _parse(path: Path, content: bytes, advice: str) -> Any:
    if path.suffix == ".parquet":
        return pl.read_parquet(content).to_dicts()
    text = content.decode("utf-8-sig")
    if path.suffix in JSON_LINES:
        # Not splitlines(), which also splits at characters that JSON allows inside strings.
        lines = enumerate(text.split("\n"), start=1)
        return [_parse_line(path, number, line, advice) for number, line in lines if line.strip()]
    return json.loads(text)


def _parse_line(path: Path, number: int, line: str, advice: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EditionError(
            f"{path}: line {number} cannot be read as JSON ({error}). {advice}"
        ) from None
