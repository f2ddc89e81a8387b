"""Files of answers to questions: predictions in LiveDRBench's format, or one file per question.

A prediction is `{"key", "preds"}`, or `{"key", "answer"}` with the agent's raw answer. Both may
have a `trace`, the list of search steps. In a folder, each `.json`, `.md` or `.txt` file is the
answer to the question whose key is its name.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rows import (
    STORABLE,
    PublishedRow,
    index_rows,
    read_content,
    read_value,
    validate_rows,
)
from tasks.files.opening import list_files
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.traces import SearchStep

SUFFIXES = frozenset({".json", ".md", ".txt"})
MAX_STEPS = 5_000
ADVICE = 'Fix it: expected a list of predictions [{"key": …, "preds": […]}].'


class ImportedAnswer(Frozen):
    """An agent's answer to a question."""

    key: str
    text: str
    source: str
    """The file's path in the imported folder."""
    trace: tuple[SearchStep, ...] | None = None


class _Prediction(PublishedRow):
    key: Annotated[str, StringConstraints(strict=True, min_length=1), STORABLE]
    preds: Any = None
    answer: Any = None
    """Read only if there are no `preds`."""
    trace: Annotated[tuple[SearchStep, ...], Field(max_length=MAX_STEPS)] | None = None

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if "preds" not in self.model_fields_set and not isinstance(self.answer, str):
            raise ValueError("it has neither `preds` nor a text `answer`")
        for index, step in enumerate(self.trace or ()):
            if step.parent is not None and not 0 <= step.parent < index:
                raise ValueError(
                    f"`trace`: step {index} follows from step {step.parent}, which is not before it"
                )
        return self

    @property
    def text(self) -> str:
        """The answer as an agent would have written it."""
        written = self.answer
        if "preds" in self.model_fields_set:
            written = json.dumps({"key": self.key, "preds": self.preds}, ensure_ascii=False)
        return replace_surrogates(written)


def read_answers(path: Path) -> list[ImportedAnswer]:
    """Read the answers in a file or folder, sorted by key.

    Raises:
        EditionError: there are no answers, or not in a known format; names the file and the key.
    """
    if path.is_dir():
        answers = _read_folder(path)
    elif path.exists():
        answers = _read_predictions(path)
    else:
        raise EditionError(f"{path}: there is no such file or folder of answers.")
    if not answers:
        raise EditionError(
            f"{path} has no answers; expected a list of predictions (key, preds), or a folder "
            "of <key>.json, <key>.md or <key>.txt."
        )
    return answers


def _read_folder(folder: Path) -> list[ImportedAnswer]:
    found: dict[str, Path] = {}
    for file in (f for f in list_files(folder) if f.suffix in SUFFIXES):
        first = found.setdefault(file.stem, file)
        if first != file:
            raise EditionError(
                f"{folder}: {first.name} and {file.name} both answer {file.stem!r}. Remove one."
            )
    return [
        ImportedAnswer(key=key, text=_read_text(found[key], folder), source=found[key].name)
        for key in sorted(found)
    ]


def _read_predictions(path: Path) -> list[ImportedAnswer]:
    rows = validate_rows(path, read_value(path, ADVICE), _Prediction, "key", ADVICE)
    return [
        ImportedAnswer(key=row.key, text=row.text, source=path.name, trace=row.trace)
        for row in (index_rows(path, rows, "key").values() if rows else ())
    ]


def _read_text(path: Path, folder: Path) -> str:
    content = read_content(path, ADVICE, within=folder)
    try:
        return replace_surrogates(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise EditionError(f"{path} cannot be read as UTF-8 text ({error}).") from None
