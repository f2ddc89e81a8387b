"""LiveDRBench as it is published: one row per question, with its truth in disguise.

A user's own copy, as JSON (a list of rows), JSON lines or Parquet, with the columns
`key, category, question, ground_truths, misc, canary`. `ground_truths` and `misc` (or its
`eval_info`) are base64 over XOR with the SHA-256 of the row's canary, repeated. What was in
disguise is never written into a message.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rows import read_rows
from tasks.warehouse.rows import storable
from tasks.warehouse.truths import EvalInfo, QuestionCategory

LAYOUT = "livedrbench"
MAX_KEY_CHARS = 200
CATEGORIES: tuple[str, ...] = get_args(QuestionCategory)
COLUMNS = ("key", "category", "question", "ground_truths", "misc", "canary")


@dataclass(frozen=True)
class PublishedQuestion:
    """One row in plain text."""

    key: str
    category: QuestionCategory
    question: str
    ground_truths: tuple[Any, ...]
    """One item each: a dict, or a list of dicts or strings."""
    eval_info: EvalInfo


def read_livedrbench(path: Path) -> list[PublishedQuestion]:
    """Every question of a published file, by key.

    Raises:
        EditionError: no such file, not in this format, or a row that cannot be read; names the
            file and the key.
    """
    found: dict[str, PublishedQuestion] = {}
    for number, row in enumerate(read_rows(path, COLUMNS), start=1):
        question = _question(path, number, row)
        if question.key in found:
            raise EditionError(f"{path}: key {question.key!r} stands there twice. Remove one.")
        found[question.key] = question
    if not found:
        raise EditionError(f"{path} holds no rows; expected one per question ({_columns()}).")
    return [found[key] for key in sorted(found)]


def disguised(text: str, canary: str) -> str:
    """A text as it is published: XOR with the canary's SHA-256, then base64."""
    return base64.b64encode(_xor(text.encode(), canary)).decode("ascii")


def _question(path: Path, number: int, row: Mapping[str, Any]) -> PublishedQuestion:
    key = row.get("key")
    if not isinstance(key, str) or not key.strip() or len(key) > MAX_KEY_CHARS:
        raise EditionError(
            f"{path}: row {number}: `key` is no text of 1 to {MAX_KEY_CHARS} characters."
        )
    where = f"{path}: key {key!r}"
    missing = [name for name in COLUMNS if name not in row]
    if missing:
        raise EditionError(f"{where} lacks {', '.join(missing)}; expected {_columns()}.")
    category, question, canary = row["category"], row["question"], row["canary"]
    if category not in CATEGORIES:
        raise EditionError(f"{where}: `category` is none of {', '.join(CATEGORIES)}.")
    if not isinstance(question, str) or not question.strip():
        raise EditionError(f"{where}: `question` is empty.")
    if not isinstance(canary, str) or not canary:
        raise EditionError(f"{where}: `canary` is empty; without it the truth cannot be read.")
    truths = _revealed(where, "ground_truths", row["ground_truths"], canary)
    if not isinstance(truths, list) or not all(isinstance(t, dict | list | str) for t in truths):
        raise EditionError(f"{where}: `ground_truths` is no list of objects, lists or texts.")
    return PublishedQuestion(
        key=storable(key),
        category=category,
        question=storable(question),
        ground_truths=tuple(truths),
        eval_info=_eval_info(where, row["misc"], canary),
    )


def _eval_info(where: str, misc: object, canary: str) -> EvalInfo:
    """`misc` in disguise as a whole, or a plain object whose `eval_info` may be in disguise."""
    known = misc
    if isinstance(misc, str) and misc.strip():
        known = _plain(misc)
        if known is None:
            known = _revealed(where, "misc", misc, canary)
    info = known.get("eval_info") if isinstance(known, dict) else None
    if isinstance(info, str) and info.strip():
        info = _revealed(where, "misc.eval_info", info, canary)
    if not info:
        return EvalInfo()
    try:
        return EvalInfo.model_validate(info)
    except ValidationError as error:
        key = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise EditionError(
            f"{where}: `misc.eval_info` is not in the known form (at {key or 'its top'}); expected "
            "an object with lists of keys: primary_keys, main_claims, ignore_keys."
        ) from None


def _plain(text: str) -> Any:
    """The JSON object that a text is; None if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _revealed(where: str, column: str, text: object, canary: str) -> Any:
    problem = EditionError(
        f"{where}: `{column}` cannot be read with the row's canary: it is damaged, or the canary "
        "is another one. Fetch the file afresh, and keep each row's canary as it is."
    )
    if not isinstance(text, str):
        raise problem
    try:
        return json.loads(_xor(base64.b64decode(text, validate=True), canary).decode())
    except (binascii.Error, ValueError, RecursionError):
        raise problem from None


def _xor(data: bytes, canary: str) -> bytes:
    key = sha256(canary.encode("utf-8", "surrogatepass")).digest()
    return bytes(byte ^ mask for byte, mask in zip(data, cycle(key), strict=False))


def _columns() -> str:
    return ", ".join(COLUMNS)
