"""How commands are used: the words of their help, what is said of names from before, and the names
that a shell completes: of agents, editions, judges, protocols and reports. For these no warehouse
is opened: editions and reports are read from its exports, which each edition has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
OLD_NAMES: Mapping[str, str] = {
    "agreement": "compare judges",
    "analyse --to": "analyse --output FILE",
    "annotate make --pairs": "annotate make --items N",
    "ask AGENT": "ask --agent AGENT",
    "backfill AGENT": "backfill --agent AGENT",
    "breakdown": "leaderboard --by theme",
    "calls --export": "calls --output FILE",
    "collect --from": "collect --since DATE",
    "collect --to": "collect --until DATE",
    "compare --edition": "compare protocols",
    "compare-extraction": "compare extraction",
    "differences": "compare agents",
    "estimate": "evaluate --estimate",
    "explain --report": "explain AGENT/TITLE",
    "import answers": "import reports",
    "import deepresearch_bench": "import drb",
    "import rigorous-draft": "draft import",
    "keys new --out": "keys new --to FOLDER",
    "pages export --to": "pages export --output FILE",
    "refresh --from": "refresh --since DATE",
    "refresh --to": "refresh --until DATE",
    "rejudge --publish": "rejudge --to FOLDER",
    "restore": "backup restore",
    "sandbox-token": "sandbox token",
    "tokens": "calls --by agent",
}
"""By what was typed before of commands, options and arguments, what to type now."""


def complete_names(context: Any, param: Any, incomplete: str) -> list[str]:
    """Return the names that begin like this, for an option or argument by the word for its value;
    none if a file that has them cannot be read."""
    try:
        return [name for name in NAMES[param.metavar](context) if name.startswith(incomplete)]
    except (ExpectedError, OSError, ValueError):
        return []


def _list_agents(context: Any) -> Iterable[str]:
    from tasks.configuration.agents import load_agents

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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, or say what an old option is now."""
        _refuse_old_options(ctx, args)
        return super().parse_args(ctx, args)


class ReadableGroup(TyperGroup):
    """A group whose help and whose messages a person understands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, each with a word for its value."""
        return [_name_value(ctx, param) for param in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, or say what an old option is now; further ones are a command's."""
        _refuse_old_options(ctx, args[:1])
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or say what an old one is now."""
        if args[0] not in self.commands:
            _refuse_old_name(ctx, args[0], f"No such command {args[0]!r}")
        return super().resolve_command(ctx, args)


def name_command(ctx: Any) -> str:
    """Return a command's name with those of its groups, however `evergreen` was started."""
    names = []
    while ctx.parent is not None:
        names.append(ctx.info_name)
        ctx = ctx.parent
    return " ".join(reversed(names))


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


def _refuse_old_options(ctx: Any, args: Sequence[str]) -> None:
    if args and not args[0].startswith("-"):
        _refuse_old_name(ctx, "AGENT", f"Unexpected argument {args[0]!r}")
    for word in args:
        option, _, _ = word.partition("=")
        if option.startswith("--"):
            _refuse_old_name(ctx, option, f"No such option {option!r}")


def _refuse_old_name(ctx: Any, word: str, error: str) -> None:
    """End with wrong usage if the word is an old name: of a command, an option or an argument."""
    new = OLD_NAMES.get(f"{name_command(ctx)} {word}".strip())
    if new and not ctx.resilient_parsing:  # which a shell's completion does
        ctx.fail(f"{error}. It is now: evergreen {new}")
