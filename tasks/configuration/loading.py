"""YAML into frozen pydantic models that refuse unknown keys."""

import json
import os
import reprlib
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tasks.base import Frozen
from tasks.configuration.bounded_yaml import load_yaml
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.wording import expected, place_of

CONFIGS = Path(
    os.environ.get("EVERGREEN_CONFIGS") or Path(__file__).resolve().parents[2] / "configs"
)
"""The project's folder, or a copy of it that EVERGREEN_CONFIGS names."""

MOST_BYTES = 2_000_000
MOST_TOLD = 20
"""Mistakes of a file that are told at once."""


class Configured(Frozen):
    """Base of every configuration model."""


ConfiguredT = TypeVar("ConfiguredT", bound=BaseModel)


def load(path: Path, model: type[ConfiguredT]) -> ConfiguredT:
    """One YAML (or JSON) file as one model.

    Raises:
        ConfigurationError: naming the file, the key and what was expected there.
    """
    found: ConfiguredT = _loaded(path, _text(path), model)
    return found


def read_mapping(path: Path) -> dict[str, Any]:
    """The file's top-level mapping, unvalidated.

    Raises:
        ConfigurationError: no such file, too large, or no mapping; naming the file and the line.
    """
    return _mapping(path, _text(path))


@lru_cache(maxsize=32)
def _loaded(path: Path, text: str, model: type[ConfiguredT]) -> ConfiguredT:
    """The same model for the same text: stages ask for a file's settings hundreds of times."""
    content = _mapping(path, text)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigurationError(_explained(path, content, error)) from None


def _mapping(path: Path, text: str) -> dict[str, Any]:
    content = _load_json(path, text) if path.suffix == ".json" else load_yaml(path, text)
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path}: expected a mapping of keys at the top, found {type(content).__name__}."
        )
    return content


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            said = file.read(MOST_BYTES + 1)
        if len(said) <= MOST_BYTES:
            return said.decode("utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as UTF-8 text ({error}).") from None
    raise ConfigurationError(f"{path} is larger than {MOST_BYTES:,} bytes. Shorten it.")


def _load_json(path: Path, text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made:
                raise ConfigurationError(
                    f"{path}: the key {key[:80]!r} is given twice. Remove one of them."
                )
            made[key] = value
        return made

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{path}: not valid JSON: {error}") from None
    except (RecursionError, ValueError):
        raise ConfigurationError(
            f"{path}: it is nested too deeply, or a number too long. Flatten it, or put the number "
            "into quotes."
        ) from None


def _explained(path: Path, content: object, error: ValidationError) -> str:
    lines = []
    for problem in _problems(error)[:MOST_TOLD]:
        key = place_of(problem, content)
        if problem["type"] == "extra_forbidden":
            lines.append(f"{path}: unknown key {key}. Remove it, or correct its spelling.")
        elif problem["type"] == "missing":
            lines.append(f"{path}: key {key} is missing. Add it.")
        else:
            lines.append(f"{path}: {key}: {expected(problem)}; found {_shown(problem['input'])!r}.")
    if (rest := len(_problems(error)) - MOST_TOLD) > 0:
        lines.append(f"{path}: and {rest:,} more.")
    return "\n".join(lines)


def _problems(error: ValidationError) -> list[ErrorDetails]:
    """All but lists that are said to be too short only because something in them is wrong."""
    found = error.errors(include_url=False)
    inside = {problem["loc"][:n] for problem in found for n in range(len(problem["loc"]))}
    return [p for p in found if p["type"] != "too_short" or p["loc"] not in inside]


def _shown(value: object) -> str:
    """Its beginning, never made a text as a whole."""
    return (value if isinstance(value, str) else reprlib.repr(value))[:80]
