"""Check the names that a user gives: editions, agents, protocols, judges."""

from collections.abc import Sequence

from tasks.errors import ExpectedError
from tasks.judges.registry import load_judge
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import Readable, Warehouse


class UnknownName(ExpectedError):
    """The warehouse has no such edition, agent or report; the message lists those it has."""


class OutdatedLeaderboard(ExpectedError):
    """The leaderboard does not match the scores; the message names the command to run."""


def list_editions(source: Readable) -> list[str]:
    """Return all editions, by name."""
    return source.frame("SELECT edition FROM editions ORDER BY edition")["edition"].to_list()


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
            raise UnknownName(f"{edition} has no reports of {agent!r}; it has: {', '.join(known)}.")


def check_known(source: Readable, edition: str) -> None:
    """Raise UnknownName if the warehouse or snapshot has no such edition."""
    known = list_editions(source)
    if edition not in known:
        there = f"there are: {', '.join(known)}" if known else "there is none yet"
        raise UnknownName(f"There is no edition {edition!r}; {there}.")


def check_edition(warehouse: Warehouse, edition: str) -> None:
    """Raise UnknownName if the warehouse has no such edition."""
    editions = list_editions(warehouse)
    if edition not in editions:
        raise UnknownName(
            f"{warehouse.location} has no edition {edition!r}; it has: "
            f"{', '.join(editions) or 'none yet'}. Import one (`evergreen import --help` "
            "lists the sources), or collect one with `evergreen collect`."
        )


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
                f"{edition} has no figures of the {column} {name!r}, only of "
                f"{', '.join(there)}. `evergreen evaluate` computes them."
            )
