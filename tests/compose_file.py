"""docker-compose.yml as Compose reads it: anchors merged, `${…}` filled in."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
COMPOSE = ROOT / "docker-compose.yml"
VARIABLE = re.compile(
    r"\$\{(?P<name>\w+)(?:(?P<how>:?[-?])(?P<word>[^{}]*))?\}|\$(?P<bare>\w+)|\$\$"
)
"""Compose's: `$$` is a dollar, the rest as in a shell."""


class Unset(ValueError):
    """A variable without which Compose starts nothing."""


def compose(given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The whole file. given: the variables; without them they stand as they are written."""
    read: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))
    filled: dict[str, Any] = read if given is None else _filled(read, given)
    return filled


def services(given: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose(given)["services"]
    return found


def environment(service: str, given: Mapping[str, str]) -> dict[str, str]:
    """What a container of a service has; a name without a value is passed on where it is given."""
    named = services(given)[service]["environment"]
    passed = {name: given[name] for name in named if named[name] is None and name in given}
    return {name: value for name, value in named.items() if value is not None} | passed


def fill(text: str, given: Mapping[str, str]) -> str:
    """Raises:
    Unset: a required variable is not given, or empty.
    """

    def value(found: re.Match[str]) -> str:
        name, how = found["name"] or found["bare"], found["how"] or ""
        if name is None:
            return "$"
        known = given.get(name)
        if known is None or (not known and how.startswith(":")):
            if how.endswith("?"):
                raise Unset(f"{name}: {found['word']}")
            return str(found["word"] or "") if how else ""
        return known

    return VARIABLE.sub(value, text)


def _filled(node: Any, given: Mapping[str, str]) -> Any:
    if isinstance(node, str):
        return fill(node, given)
    if isinstance(node, dict):
        return {key: _filled(value, given) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(each, given) for each in node]
    return node
