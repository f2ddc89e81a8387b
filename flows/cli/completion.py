"""The names that a shell completes: of agents, editions, judges, protocols and reports. No
warehouse is opened: editions and reports are read from its exports, which each edition has."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.errors import ExpectedError
from tasks.warehouse.location import DEFAULT_LOCATION

if TYPE_CHECKING:
    from tasks.warehouse.snapshot import Manifest


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

    return PROTOCOLS


NAMES: Mapping[str, Callable[[Any], Iterable[str]]] = {
    "AGENT": _list_agents,
    "AGENT/TITLE": _list_reports,
    "EDITION": _list_editions,
    "JUDGE": _list_judges,
    "PROTOCOL": _list_protocols,
}
"""By the word for a value, what lists the known ones; what it reads is imported only then."""
