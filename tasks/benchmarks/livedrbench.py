"""Reader of LiveDRBench: one row per question, with its ground truth obfuscated.

It reads the user's copy as JSON (a list of rows), JSON lines or Parquet, with the columns `key,
category, question, ground_truths, misc, canary`. `ground_truths` and `misc` (or its `eval_info`)
are XORed with the repeated SHA-256 of the row's canary, then base64-encoded. Messages never contain
what was obfuscated.
"""

import base64
import binascii
import json
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints, ValidationError

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedQuery, PublishedSet, PublishedTruth
from tasks.benchmarks.rows import STORABLE, PublishedRow, index_rows, read_rows
from tasks.warehouse.truths import EvalInfo, QuestionCategory, TruthSettings

SET = PublishedSet(layout="livedrbench", title="LiveDRBench")


def _check_canary(canary: object) -> object:
    if canary in (None, ""):
        raise ValueError("it is empty, so the ground truth cannot be read")
    return canary


class _LiveRow(PublishedRow):
    key: Annotated[str, StringConstraints(strict=True, max_length=200, pattern=r"\S"), STORABLE]
    category: QuestionCategory
    question: Annotated[str, StringConstraints(strict=True, pattern=r"\S"), STORABLE]
    ground_truths: Any
    misc: Any
    canary: Annotated[str, StringConstraints(strict=True), BeforeValidator(_check_canary)]


def read_livedrbench(path: Path) -> list[PublishedQuery]:
    """Read all questions of a published file, by key.

    Raises:
        EditionError: no such file, another format, or an invalid row; names the file and the key.
    """
    rows = index_rows(path, read_rows(path, _LiveRow, "key"), "key")
    return [_make_question(f"{path}: key {key!r}", row) for key, row in rows.items()]


def _make_question(where: str, row: _LiveRow) -> PublishedQuery:
    truths = _deobfuscate(where, "ground_truths", row.ground_truths, row.canary)
    if not isinstance(truths, list) or not all(isinstance(t, dict | list | str) for t in truths):
        raise EditionError(f"{where}: `ground_truths` is not a list of objects, lists or texts.")
    settings = TruthSettings(
        question=row.question,
        published=tuple(truths),
        eval_info=_parse_eval_info(where, row.misc, row.canary),
    )
    return PublishedQuery(
        key=row.key,
        query=row.question,
        truth=PublishedTruth(category=row.category, settings=settings),
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
        hidden = base64.b64decode(text, validate=True)
        key = sha256(canary.encode("utf-8", "surrogatepass")).digest()
        shown = bytes(byte ^ mask for byte, mask in zip(hidden, cycle(key), strict=False))
        return json.loads(shown.decode())
    except (binascii.Error, ValueError, RecursionError):
        raise problem from None
