"""YAML into frozen pydantic models that refuse unknown keys."""

import json
import os
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from tasks.configuration.errors import ConfigurationError
from tasks.frozen import Frozen

CONFIGS = Path(
    os.environ.get("EVERGREEN_CONFIGS") or Path(__file__).resolve().parents[2] / "configs"
)
"""The project's folder, or a copy of it that EVERGREEN_CONFIGS names."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Compiled where there is one: the judges alone take 100 ms otherwise, at every run's start."""


class Configured(Frozen):
    """Base of every configuration model."""


ConfiguredT = TypeVar("ConfiguredT", bound=BaseModel)


def load(path: Path, model: type[ConfiguredT]) -> ConfiguredT:
    """One YAML (or JSON) file as one model.

    Raises:
        ConfigurationError: naming the file, the key and what was expected there.
    """
    try:
        return model.model_validate(read_mapping(path))
    except ValidationError as error:
        raise ConfigurationError(_explained(path, error)) from None


def read_mapping(path: Path) -> dict[str, Any]:
    """The file's top-level mapping, unvalidated."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as UTF-8 text ({error}).") from None
    try:
        content = json.loads(text) if path.suffix == ".json" else yaml.load(text, LOADER)
    except (yaml.YAMLError, json.JSONDecodeError) as error:
        raise ConfigurationError(f"{path}: not valid {path.suffix[1:].upper()}: {error}") from None
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path}: expected a mapping of keys at the top, found {type(content).__name__}."
        )
    return content


def _explained(path: Path, error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"]) or "(top)"
        if problem["type"] == "extra_forbidden":
            lines.append(f"{path}: unknown key `{key}`. Remove it, or correct its spelling.")
        elif problem["type"] == "missing":
            lines.append(f"{path}: key `{key}` is missing. Add it.")
        else:
            found = str(problem["input"])[:80]
            lines.append(f"{path}: `{key}`: {problem['msg']}; found {found!r}.")
    return "\n".join(lines)
