"""Judges, protocols and kinds of agents that other packages bring, by their entry points.

A package names its class in its pyproject.toml:

    [project.entry-points."evergreen.judges"]
    my_kind = "my_package.judges:MyJudge"
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from tasks.configuration.errors import ConfigurationError
from tasks.errors import suggest_names

ExtensionGroup = Literal["evergreen.judges", "evergreen.protocols", "evergreen.agents"]


@cache
def _find_entry_points(group: ExtensionGroup) -> dict[str, EntryPoint]:
    return {each.name: each for each in sorted(entry_points(group=group), reverse=True)}


def list_extensions(group: ExtensionGroup) -> list[str]:
    """Return the names that installed packages bring, sorted."""
    return sorted(_find_entry_points(group))


def load_extension(group: ExtensionGroup, name: str) -> Any:
    """Import and return what a package brings under a name.

    Raises:
        ConfigurationError: no package brings it, or it cannot be imported.
    """
    found = _find_entry_points(group).get(name)
    if found is None:
        known = ", ".join(list_extensions(group)) or "none"
        raise ConfigurationError(
            f"No installed package brings {name!r} as an entry point of {group!r}; there are: "
            f"{known}. Install the package, or correct the name."
        )
    try:
        return found.load()
    except Exception as error:
        raise ConfigurationError(
            f"The entry point {name!r} of {group!r}, {found.value}, cannot be imported: {error}. "
            "Correct the package that brings it."
        ) from error


EXTENSION = "extension"
"""The tag of entries whose kind a package brings."""


def find_tag(built_in: tuple[str, ...]) -> Callable[[Any], str | None]:
    """Return the function by which pydantic chooses the model of an entry: its kind if it is
    built in."""

    def tag(entry: Any) -> str | None:
        kind = entry.get("kind") if isinstance(entry, Mapping) else getattr(entry, "kind", None)
        return kind if kind in built_in or not isinstance(kind, str) else EXTENSION

    return tag


def check_kind(kind: str, group: ExtensionGroup, built_in: tuple[str, ...]) -> str:
    """Return a kind that no built-in class handles, if a package brings it.

    Raises:
        ValueError: none does; lists the known kinds.
    """
    if kind not in list_extensions(group):
        hint = suggest_names(kind, {*built_in, *list_extensions(group)})
        hint = f"{hint[0].lower()}{hint[1:].removesuffix('.')}"
        raise ValueError(f"there is no such kind, built in or in an installed package ({hint})")
    return kind
