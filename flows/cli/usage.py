"""How commands are used: the words of their help, and the names that a shell completes: of agents,
editions, judges, protocols and reports. For these no warehouse is opened: editions and reports are
read from its exports, which each edition has."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

from tasks.errors import ExpectedError
from tasks.warehouse.location import DEFAULT_LOCATION

if TYPE_CHECKING:
    from tasks.warehouse.snapshot import Manifest

VALUES: Mapping[str, str] = {
    "--against": "JUDGE",
    "--agent": "AGENT",
    "--as-of": "DATE",
    "--assignment": "ASSIGNMENT",
    "--budget": "USD",
    "--edition": "EDITION",
    "--documents": "FILE",
    "--exports": "FOLDER",
    "--extractor": "JUDGE",
    "--general": "FILE",
    "--host": "ADDRESS",
    "--index": "FOLDER",
    "--judge": "JUDGE",
    "--labels": "FILE",
    "--metric": "METRIC",
    "--output": "FILE",
    "--protocol": "PROTOCOL",
    "--since": "DATE",
    "--to": "FOLDER",
    "--until": "DATE",
    "--usd": "USD",
    "--wiki-api": "URL",
}
"""What stands in the help for the value of an option, unless its declaration says so."""


def complete_names(context: Any, param: Any, incomplete: str) -> list[str]:
    """Return the names that begin like this, for an option or argument by the word for its value;
    none if a file that has them cannot be read."""
    try:
        return [name for name in NAMES[param.metavar](context) if name.startswith(incomplete)]
    except (ExpectedError, OSError, ValueError):
        return []


def _list_agents(context: Any) -> Iterable[str]:
    from tasks.agents.registry import load_agents

    return load_agents().agents


def _list_editions(context: Any) -> Iterable[str]:
    return [manifest.edition for _, manifest in _load_exports(context)]


def _list_reports(context: Any) -> Iterable[str]:
    import polars as pl

    for folder, _ in _load_exports(context):
        reports = pl.read_parquet(folder / "reports.parquet", columns=["agent", "assignment"])
        yield from (f"{agent}/{title}" for agent, title in reports.unique().sort(pl.all()).rows())


def _load_exports(context: Any) -> "list[tuple[Path, Manifest]]":
    from tasks.warehouse.snapshot import load_latest_manifests

    where = context.params.get("warehouse", DEFAULT_LOCATION)
    if str(where) == DEFAULT_LOCATION:  # it may stand before the command's name
        where = context.find_root().params.get("warehouse") or where
    return load_latest_manifests(where)


def _list_judges(context: Any) -> Iterable[str]:
    from tasks.configuration.models import load_judges

    return load_judges().judges


def _list_protocols(context: Any) -> Iterable[str]:
    from tasks.protocols.registry import PROTOCOLS

    return sorted(PROTOCOLS)


NAMES: Mapping[str, Callable[[Any], Iterable[str]]] = {
    "AGENT": _list_agents,
    "AGENT/TITLE": _list_reports,
    "EDITION": _list_editions,
    "JUDGE": _list_judges,
    "PROTOCOL": _list_protocols,
}
"""By the word for a value, what lists the known ones; what it reads is imported only then."""


class ReadableCommand(TyperCommand):
    """A command whose help and whose messages a person understands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, each with a word for its value."""
        return [_name_value(ctx, param) for param in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line *Usage*, without Typer's braces."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class ReadableGroup(TyperGroup):
    """A group whose help and whose messages a person understands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, each with a word for its value."""
        return [_name_value(ctx, param) for param in super().get_params(ctx)]


def _name_value(ctx: Any, param: Any) -> Any:
    """Set the word that stands for a parameter's value: for a flag none, for an argument its own
    name. By this word a shell completes it."""
    if param.param_type_name == "argument":
        param.metavar = param.metavar or param.name.upper()
        vars(param)["display_type_rich"] = lambda ctx: None  # <str> and the like
    elif param.metavar is None:
        param.metavar = "" if param.is_flag else _find_word(ctx, param)
    if param.metavar in NAMES:
        param._custom_shell_complete = complete_names  # Typer takes it only at the declaration
    return param


def _find_word(ctx: Any, option: Any) -> str:
    kind = option.type_descriptor
    if kind.is_choice:
        return str(option.display_type(ctx)).strip("<>")
    by_kind = {int: "N", float: "N", Path: "PATH"}.get(kind.annotation, "NAME")
    return next((VALUES[name] for name in option.opts if name in VALUES), by_kind)
