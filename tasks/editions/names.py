"""Check the names that a user gives: editions, agents, protocols, judges."""

from collections.abc import Sequence

from tasks.errors import ExpectedError, suggest_names
from tasks.judges.registry import load_judge
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import Readable, Warehouse

HOW_TO_MAKE_ONE = (
    "Import one (`evergreen import --help` lists the sources), or collect one with `evergreen "
    "collect`."
)


class UnknownName(ExpectedError):
    """The warehouse has no such edition, agent or report; the message lists those it has."""


class OutdatedLeaderboard(ExpectedError):
    """The leaderboard does not match the scores; the message names the command to run."""


def list_editions(source: Readable) -> list[str]:
    """Return all editions, by name."""
    return source.frame("SELECT edition FROM editions ORDER BY edition")["edition"].to_list()


def list_newest_first(source: Readable) -> list[str]:
    """Return all editions, the one that was frozen or imported last before the others."""
    found = source.frame("SELECT edition FROM editions ORDER BY imported_at DESC, edition DESC")
    return found["edition"].to_list()


def check_selection(
    warehouse: Warehouse,
    edition: str,
    protocols: Sequence[str],
    agents: Sequence[str],
    judge_name: str,
) -> None:
    """Raise UnknownName or ConfigurationError for the first unknown name."""
    check_edition(warehouse, edition)
    check_reports(warehouse, edition, agents)
    for name in protocols:
        get_protocol(name)
    load_judge(judge_name)


def check_reports(warehouse: Warehouse, edition: str, agents: Sequence[str]) -> None:
    """Raise UnknownName for the first agent without a report in the edition."""
    known = warehouse.frame(
        "SELECT DISTINCT agent FROM reports WHERE edition = $1 ORDER BY agent", [edition]
    )["agent"].to_list()
    for agent in agents:
        if agent not in known:
            raise UnknownName(
                f"{edition} has no reports of {agent!r}. {suggest_names(agent, known)}"
            )


def check_edition(source: Readable, edition: str) -> None:
    """Raise UnknownName if the warehouse or snapshot has no such edition."""
    known = list_editions(source)
    if edition not in known:
        how = "" if known else f" {HOW_TO_MAKE_ONE}"
        raise UnknownName(f"There is no edition {edition!r}. {suggest_names(edition, known)}{how}")


def check_scored(
    source: Readable, edition: str, protocols: Sequence[str] = (), judges: Sequence[str] = ()
) -> None:
    """Raise UnknownName if the edition's leaderboard is empty or lacks one of these protocols or
    judges."""
    board = source.frame(
        "SELECT DISTINCT protocol, judge FROM leaderboard WHERE edition = $1", [edition]
    )
    if board.is_empty():
        raise UnknownName(
            f"{edition} has no figures yet. Run `evergreen evaluate --edition {edition}` first."
        )
    wanted = [("protocol", name) for name in protocols] + [("judge", name) for name in judges]
    for column, name in wanted:
        there = board[column].unique().sort().to_list()
        if name not in there:
            raise UnknownName(
                f"{edition} has no figures of the {column} {name!r}. "
                f"{suggest_names(name, there)} `evergreen evaluate` computes them."
            )
