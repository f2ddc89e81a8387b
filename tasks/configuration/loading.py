"""Loading of YAML and JSON files into frozen pydantic models that refuse unknown keys."""

import json
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tasks.base import Frozen
from tasks.configuration.bounded_yaml import load_yaml
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, find_all
from tasks.configuration.wording import (
    VARIABLE,
    describe_expected,
    find_known_keys,
    format_location,
)
from tasks.errors import suggest_names
from tasks.files.opening import open_file

MAX_BYTES = 2_000_000
MAX_ERRORS = 20
"""The most errors of a file that one message lists."""


class ConfigModel(Frozen):
    """The base class of configuration models."""

    named_by: ClassVar[tuple[str, ...]] = ()
    """The keys that name the entries of its lists."""


ConfigT = TypeVar("ConfigT", bound=BaseModel)


def load_config(path: Path, model: type[ConfigT]) -> ConfigT:
    """Load a YAML or JSON file.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    config: ConfigT = _parse((path,), (read_text(path),), model)
    return config


def load_merged(name: str, model: type[ConfigT], configs: ConfigSource = CONFIGS) -> ConfigT:
    """Load a file such as `agents.yaml` from every folder that has it, as one.

    Of a key, the file counts that comes first; of a mapping such as `agents`, each entry counts by
    itself. An entry replaces one of the same name as a whole; null removes it. Of a list whose
    entries have names (`ConfigModel.named_by`), those of a name replace all others of that name.

    Raises:
        ConfigurationError: there is no such file, or one cannot be read or is invalid.
    """
    paths = tuple(find_all(name, configs))
    config: ConfigT = _parse(paths, tuple(map(read_text, paths)), model)
    return config


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a file's top-level mapping without validating it.

    Raises:
        ConfigurationError: the file cannot be read or parsed, or holds no mapping.
    """
    return _parse_mapping(path, read_text(path))


def check_names(path: Path, key: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise ConfigurationError for the first of a key's names that is not known."""
    for name in given:
        if name not in known:
            raise ConfigurationError(
                f"{path}: `{key}`: there is no {name!r}. {suggest_names(name, known)}"
            )


def check_unique(path: Path, ids: Sequence[str]) -> None:
    """Raise ConfigurationError if an id is used twice."""
    if twice := find_repeated(ids):
        raise ConfigurationError(f"{path}: ids used twice: {', '.join(twice)}.")


def find_repeated(ids: Sequence[str]) -> list[str]:
    """Return the ids that occur more than once, sorted."""
    return sorted(name for name, n in Counter(ids).items() if n > 1)


@lru_cache(maxsize=64)
def _parse(paths: Sequence[Path], texts: Sequence[str], model: type[ConfigT]) -> ConfigT:
    """Parse texts, cached: stages load the same files hundreds of times."""
    files = [
        (path, _parse_mapping(path, text, adds=path != paths[-1]))
        for path, text in zip(paths, texts, strict=True)
    ]
    owners: dict[tuple[str | int, ...], Path] = {}
    content = _merge(files, owners, getattr(model, "named_by", ()))

    def find_owner(problem: ErrorDetails) -> Path:
        at = (problem["loc"][:n] for n in (2, 1))
        return next((owners[key] for key in at if key in owners), paths[0])

    return _validate(content, model, find_owner)


def _merge(
    files: Sequence[tuple[Path, Mapping[str, Any]]],
    owners: dict[tuple[str | int, ...], Path],
    named_by: tuple[str, ...],
) -> dict[str, Any]:
    """Merge the contents of files, the first before the others.

    owners: gets the file of each key, and of each entry of a mapping.
    """
    merged: dict[str, Any] = {}
    for path, content in reversed(files):
        for key, value in content.items():
            before = merged.get(key)
            if value is None and isinstance(before, Mapping | list):
                continue  # all its entries are comments
            owners[key,] = path
            if not isinstance(value, Mapping):
                lists = named_by and isinstance(value, list) and isinstance(before, list)
                merged[key] = _merge_lists(value, before or [], named_by) if lists else value
                continue
            entries = dict(before) if isinstance(before, Mapping) else {}
            for name, entry in value.items():
                owners[key, name] = path
                if entry is None and isinstance(entries.get(name), Mapping):
                    del entries[name]
                else:
                    entries[name] = entry
            merged[key] = entries
    return merged


def _merge_lists(first: list[Any], then: list[Any], named_by: tuple[str, ...]) -> list[Any]:
    """Return the entries of `first`, then those of `then` with other names."""

    def name(entry: Any) -> list[Any] | None:
        return [entry.get(key) for key in named_by] if isinstance(entry, Mapping) else None

    names = [name(entry) for entry in first]
    return [*first, *(entry for entry in then if name(entry) not in names)]


def validate_config(path: Path, content: object, model: type[ConfigT], key: str = "") -> ConfigT:
    """Validate the content of a file, or of one of its keys.

    Raises:
        ConfigurationError: it is invalid; names the file, the keys and what was expected.
    """
    return _validate(content, model, lambda _: path, key)


def _validate(
    content: object,
    model: type[ConfigT],
    find_owner: Callable[[ErrorDetails], Path],
    key: str = "",
) -> ConfigT:
    """find_owner: returns the file that a problem is in."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        said = _describe_errors(content, error, find_owner, key, model)
        raise ConfigurationError(said) from None


def _parse_mapping(path: Path, text: str, *, adds: bool = False) -> dict[str, Any]:
    """adds: whether the file only adds to others; it may then have comments alone."""
    content = _parse_json(path, text) if path.suffix == ".json" else load_yaml(path, text)
    if content is None and adds:
        return {}
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path}: expected a mapping of keys at the top, found {type(content).__name__}."
        )
    return content


def read_text(path: Path) -> str:
    """Read a configuration file, with newlines as on Unix: prompts hash the same everywhere.

    Raises:
        ConfigurationError: it is missing, too large or not UTF-8.
    """
    try:
        with open_file(path, within=None) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) <= MAX_BYTES:
            return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{path}: cannot be read as UTF-8 text ({reason}).") from None
    raise ConfigurationError(f"{path} is larger than {MAX_BYTES:,} bytes. Shorten it.")


def _parse_json(path: Path, text: str) -> Any:
    def check_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, value in pairs:
            if key in mapping:
                raise ConfigurationError(
                    f"{path}: the key {key[:80]!r} is given twice. Remove one of them."
                )
            mapping[key] = value
        return mapping

    try:
        return json.loads(text, object_pairs_hook=check_unique)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{path}: not valid JSON: {error}") from None
    except (RecursionError, ValueError):
        raise ConfigurationError(
            f"{path}: nested too deeply, or a number is too long. Flatten it, or quote the number."
        ) from None


def _describe_errors(
    content: object,
    error: ValidationError,
    find_owner: Callable[[ErrorDetails], Path],
    within: str,
    model: type[BaseModel],
) -> str:
    lines = []
    problems = _relevant_errors(error)
    for problem in problems[:MAX_ERRORS]:
        path, key = find_owner(problem), format_location(problem, content, within)
        if problem["type"] == "extra_forbidden":
            wrong, known = str(problem["loc"][-1]), find_known_keys(model, problem["loc"])
            lines.append(
                f"{path}: unknown key {key}. Remove it, or correct its spelling. "
                f"{suggest_names(wrong, known)}"
            )
        elif problem["type"] == "missing":
            lines.append(f"{path}: key {key} is missing. Add it.")
        else:
            value = problem["input"]
            text = value if isinstance(value, str) else reprlib.repr(value)  # does not convert all
            found = "nothing" if value is None else repr(text[:80])
            if problem.get("ctx", {}).get("pattern") == VARIABLE:
                found = "something else, which is not shown"
            lines.append(f"{path}: {key}: {describe_expected(problem)}; found {found}.")
    if (rest := len(problems) - MAX_ERRORS) > 0:
        lines.append(f"{find_owner(problems[-1])}: and {rest:,} more.")
    return "\n".join(lines)


def _relevant_errors(error: ValidationError) -> list[ErrorDetails]:
    """Drop "too short" errors of lists that are short only because an element is invalid, and
    errors that follow from a wrong kind of an entry: its keys are those of another kind."""
    errors = error.errors(include_url=False)
    parents = {problem["loc"][:n] for problem in errors for n in range(len(problem["loc"]))}
    of_wrong_kind = {p["loc"][:-1] for p in errors if p["loc"][-1:] == ("kind",)}
    return [
        p
        for p in errors
        if not (p["type"] == "too_short" and p["loc"] in parents)
        and not (p["loc"][-1:] != ("kind",) and p["loc"][:-1] in of_wrong_kind)
    ]
