"""Whether a leaderboard says what the scores of its edition say: only then is it published."""

from collections.abc import Sequence

from tasks.configuration.models import load_judges
from tasks.editions.names import LeaderboardBehind
from tasks.judging.protocols import protocols_for
from tasks.protocols.registry import at_hand
from tasks.scoring.rows import is_current, leaderboard_rows
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.store import Warehouse


def check_current(warehouse: Warehouse, edition: str) -> None:
    """See that the figures are those of the scores, as far as protocols are at hand.

    Raises:
        LeaderboardBehind: an evaluation was killed before it came to the leaderboard, or what
            figures rest on has changed since (a protocol, a category, a draft).
    """
    scored = warehouse.frame("SELECT DISTINCT protocol FROM scores WHERE edition = $1", [edition])
    protocols = at_hand(scored["protocol"])
    by_protocol: dict[str, list[LeaderboardRow]] = {}
    for row in leaderboard_rows(warehouse, edition, [*protocols.values()]):
        by_protocol.setdefault(row.protocol, []).append(row)
    behind = {
        name: rows for name, rows in by_protocol.items() if not is_current(warehouse, edition, rows)
    }
    if behind:
        judges = {row.judge for rows in behind.values() for row in rows}
        raise LeaderboardBehind(
            f"The leaderboard of {edition} is behind its scores ({', '.join(behind)}): an "
            "evaluation was ended before it was done, or what the figures rest on has changed. "
            f"Run `{_command(warehouse, edition, [*behind], judges)}`, then publish."
        )


def _command(warehouse: Warehouse, edition: str, protocols: Sequence[str], judges: set[str]) -> str:
    """What ranks them anew, and has nobody judge who has not before."""
    usual = set(protocols) <= set(protocols_for(warehouse, edition))
    named = [] if usual else [f" --protocol {name}" for name in protocols]
    judge = "" if load_judges().default in judges else f" --judge {min(judges)}"
    return f"evergreen evaluate --edition {edition}{''.join(named)}{judge}"
