"""Reader of LiveDRBench: one row per question, with its ground truth obfuscated.

It reads the user's copy as JSON (a list of rows), JSON lines or Parquet, with the columns `key,
category, question, ground_truths, misc, canary`. `ground_truths` and `misc` (or its `eval_info`)
are XORed with the repeated SHA-256 of the row's canary, then base64-encoded. Messages never contain
what was obfuscated.
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
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.truths import EvalInfo, QuestionCategory

LAYOUT = "livedrbench"
MAX_KEY_CHARS = 200
CATEGORIES: tuple[str, ...] = get_args(QuestionCategory)
COLUMNS = ("key", "category", "question", "ground_truths", "misc", "canary")


@dataclass(frozen=True)
class PublishedQuestion:
    """A question, deobfuscated."""

    key: str
    category: QuestionCategory
    question: str
    ground_truths: tuple[Any, ...]
    """Each is a dict, or a list of dicts or strings."""
    eval_info: EvalInfo


def read_livedrbench(path: Path) -> list[PublishedQuestion]:
    """Read all questions of a published file, by key.

    Raises:
        EditionError: no such file, another format, or an invalid row; names the file and the key.
    """
    found: dict[str, PublishedQuestion] = {}
    for number, row in enumerate(read_rows(path, COLUMNS), start=1):
        question = _parse_question(path, number, row)
        if question.key in found:
            raise EditionError(f"{path}: key {question.key!r} is there twice. Remove one.")
        found[question.key] = question
    if not found:
        raise EditionError(f"{path} has no rows; expected one per question ({_format_columns()}).")
    return [found[key] for key in sorted(found)]


def obfuscate(text: str, canary: str) -> str:
    """Obfuscate a text as published: XOR with the canary's SHA-256, then base64."""
    return base64.b64encode(_xor(text.encode(), canary)).decode("ascii")


def _parse_question(path: Path, number: int, row: Mapping[str, Any]) -> PublishedQuestion:
    key = row.get("key")
    if not isinstance(key, str) or not key.strip() or len(key) > MAX_KEY_CHARS:
        raise EditionError(
            f"{path}: row {number}: `key` is not a text of 1 to {MAX_KEY_CHARS} characters."
        )
    where = f"{path}: key {key!r}"
    missing = [name for name in COLUMNS if name not in row]
    if missing:
        raise EditionError(f"{where} lacks {', '.join(missing)}; expected {_format_columns()}.")
    category, question, canary = row["category"], row["question"], row["canary"]
    if category not in CATEGORIES:
        raise EditionError(f"{where}: `category` is none of {', '.join(CATEGORIES)}.")
    if not isinstance(question, str) or not question.strip():
        raise EditionError(f"{where}: `question` is empty.")
    if not isinstance(canary, str) or not canary:
        raise EditionError(f"{where}: `canary` is empty, so the ground truth cannot be read.")
    truths = _deobfuscate(where, "ground_truths", row["ground_truths"], canary)
    if not isinstance(truths, list) or not all(isinstance(t, dict | list | str) for t in truths):
        raise EditionError(f"{where}: `ground_truths` is not a list of objects, lists or texts.")
    return PublishedQuestion(
        key=replace_surrogates(key),
        category=category,
        question=replace_surrogates(question),
        ground_truths=tuple(truths),
        eval_info=_parse_eval_info(where, row["misc"], canary),
    )


def _parse_eval_info(where: str, misc: object, canary: str) -> EvalInfo:
    """Parse `misc`: obfuscated, or a plain object whose `eval_info` may be obfuscated."""
    known = misc
    if isinstance(misc, str) and misc.strip():
        known = _parse_object(misc)
        if known is None:
            known = _deobfuscate(where, "misc", misc, canary)
    info = known.get("eval_info") if isinstance(known, dict) else None
    if isinstance(info, str) and info.strip():
        info = _deobfuscate(where, "misc.eval_info", info, canary)
    if not info:
        return EvalInfo()
    try:
        return EvalInfo.model_validate(info)
    except ValidationError as error:
        key = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise EditionError(
            f"{where}: `misc.eval_info` is invalid (at {key or 'the top level'}); expected an "
            "object with lists of keys: primary_keys, main_claims, ignore_keys."
        ) from None


def _parse_object(text: str) -> Any:
    """Parse a text as a JSON object; None if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _deobfuscate(where: str, column: str, text: object, canary: str) -> Any:
    problem = EditionError(
        f"{where}: `{column}` cannot be read with the row's canary: either of them was changed. "
        "Download the file again, and keep each row's canary unchanged."
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


def _format_columns() -> str:
    return ", ".join(COLUMNS)
