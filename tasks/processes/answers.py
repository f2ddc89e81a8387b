"""Helpers answer in JSON: a value of the type that their function declares, or an error's name.

A hostile page may have taken a helper over. So its answer is checked like any other foreign text,
and never unpickled: a pickle could run code in this process.
"""

import json
import traceback
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

MAX_MESSAGE_CHARACTERS = 2_000
VALUE, ERROR = b"v", b"e"
"""The first byte of an answer."""


class HelperFailed(Exception):
    """A function raised in its helper what its caller does not expect."""


class InvalidAnswer(Exception):
    """A helper's answer is not what its function returns; perhaps somebody took it over."""


class RaisedError(BaseModel, extra="forbid"):
    """An error as helpers send it."""

    kind: Literal["memory", "error"]
    name: str = Field(max_length=200)
    message: str
    place: str = Field(max_length=300)
    """The file and line that raised it."""


def encode_value(function: Callable[..., Any], value: Any) -> bytes:
    """Return the answer for a value that `function` returned."""
    adapter = _get_adapter(function)
    try:
        return VALUE + adapter.dump_json(value)
    except PydanticSerializationError:  # UTF-8 has no lone surrogates, which foreign texts have
        text = json.dumps(adapter.dump_python(value, mode="json"), ensure_ascii=False)
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return VALUE + whole.encode()


def encode_error(error: Exception) -> bytes:
    """Return the answer for an error that a function raised."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    raised = RaisedError(
        kind="memory" if isinstance(error, MemoryError) else "error",
        name=_get_name(type(error))[:200],
        message=_clean(str(error)),
        place=_clean(f"{Path(frame.filename).name}, line {frame.lineno}"),
    )
    return ERROR + raised.model_dump_json().encode()


def decode_answer(
    function: Callable[..., Any], answer: bytes, raises: Sequence[type[Exception]]
) -> Any:
    """Return the value, or raise the error, that a helper answered with.

    Args:
        raises: the errors to raise as what they are; they take a message alone.

    Raises:
        MemoryError: the function took more memory than its helper has.
        HelperFailed: the function raised any other error.
        InvalidAnswer: the answer is neither a value that `function` returns nor an error.
    """
    try:
        if answer[:1] == VALUE:
            return _get_adapter(function).validate_json(answer[1:])
        if answer[:1] != ERROR:
            raise InvalidAnswer("answered with neither a value nor an error")
        raised = RaisedError.model_validate_json(answer[1:])
    except ValidationError as error:
        returned = get_type_hints(function)["return"]
        name = returned.__name__ if isinstance(returned, type) else str(returned)
        raise InvalidAnswer(f"answered with no {name}") from error
    if raised.kind == "memory":
        raise MemoryError
    message = _clean(raised.message)
    for known in raises:
        if raised.name == _get_name(known):
            raise known(message)
    raise HelperFailed(_clean(f"{raised.name.rpartition('.')[2]}: {message} ({raised.place})"))


@lru_cache(maxsize=256)
def _get_adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    hints = get_type_hints(function)
    if "return" not in hints:
        raise TypeError(f"{_get_name(function)} runs in a helper, so declare the type it returns.")
    return TypeAdapter(hints["return"])


def _get_name(named: Any) -> str:
    return f"{named.__module__}.{named.__qualname__}"


def _clean(text: str) -> str:
    """Keep what can be printed: a message from a helper must not steer a terminal."""
    kept = "".join(letter for letter in text if letter.isprintable() or letter == "\n")
    return kept[:MAX_MESSAGE_CHARACTERS]
