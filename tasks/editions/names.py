"""Checking what a user asked for against what there is, before anything starts."""

from collections.abc import Sequence

from tasks.errors import ExpectedError
from tasks.judges.registry import judge
from tasks.protocols.registry import protocol
from tasks.warehouse.store import Readable, Warehouse


class UnknownName(ExpectedError):
    """An edition or agent that the warehouse does not have; the message lists those it has."""


class LeaderboardBehind(ExpectedError):
    """It does not say what the scores say; the message names the command that mends it."""


def known_editions(source: Readable) -> list[str]:
    """Every edition in the warehouse, by name."""
    return source.frame("SELECT edition FROM editions ORDER BY edition")["edition"].to_list()


def check_selection(
    warehouse: Warehouse,
    edition: str,
    protocols: Sequence[str],
    agents: Sequence[str],
    judge_name: str,
) -> None:
    """Raise UnknownName or ConfigurationError for the first name nothing is known of."""
    check_edition(warehouse, edition)
    check_reported(warehouse, edition, agents)
    for name in protocols:
        protocol(name)
    judge(judge_name)


def check_reported(warehouse: Warehouse, edition: str, agents: Sequence[str]) -> None:
    """Raise UnknownName for the first agent of which the edition has no report."""
    known = warehouse.frame(
        "SELECT DISTINCT agent FROM reports WHERE edition = $1 ORDER BY agent", [edition]
    )["agent"].to_list()
    for agent in agents:
        if agent not in known:
            raise UnknownName(f"{edition} has no reports of {agent!r}; it has: {', '.join(known)}.")


def check_known(source: Readable, edition: str) -> None:
    """Raise UnknownName if what is read (perhaps an export) has no such edition."""
    known = known_editions(source)
    if edition not in known:
        there = f"there are: {', '.join(known)}" if known else "there is none yet"
        raise UnknownName(f"There is no edition {edition!r}; {there}.")


def check_edition(warehouse: Warehouse, edition: str) -> None:
    """Raise UnknownName if the warehouse has no such edition."""
    editions = warehouse.frame("SELECT edition FROM editions ORDER BY edition")["edition"].to_list()
    if edition not in editions:
        raise UnknownName(
            f"{warehouse.location} has no edition {edition!r}; it has: "
            f"{', '.join(editions) or 'none yet'}. Import one (`evergreen import --help` "
            "lists what there is), or collect one with `evergreen collect`."
        )


def check_scored(
    source: Readable, edition: str, protocols: Sequence[str] = (), judge_name: str | None = None
) -> None:
    """Raise UnknownName if the edition's leaderboard has nothing of these protocols, or of this
    judge, or nothing at all."""
    board = source.frame(
        "SELECT DISTINCT protocol, judge FROM leaderboard WHERE edition = $1", [edition]
    )
    if board.is_empty():
        raise UnknownName(
            f"{edition} has no figures yet. Run `evergreen evaluate --edition {edition}` first."
        )
    wanted = [("protocol", name) for name in protocols]
    wanted += [("judge", judge_name)] if judge_name else []
    for column, name in wanted:
        there = board[column].unique().sort().to_list()
        if name not in there:
            raise UnknownName(
                f"{edition} has no figures of the {column} {name!r}; it has those of "
                f"{', '.join(there)}. `evergreen evaluate` makes them."
            )
