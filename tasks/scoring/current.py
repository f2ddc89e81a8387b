"""Check that a leaderboard matches the scores of its edition, as publishing requires."""

from tasks.configuration.models import load_judges
from tasks.editions.names import OutdatedLeaderboard
from tasks.judging.protocols import choose_protocols
from tasks.protocols.registry import available_protocols
from tasks.scoring.rows import build_leaderboard_rows, is_current
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.store import Warehouse


def check_current(warehouse: Warehouse, edition: str) -> None:
    """Check that the figures match the scores, for all available protocols.

    Raises:
        OutdatedLeaderboard: an evaluation was killed before it updated the leaderboard, or what
            figures rest on has changed since (a protocol, a category, a draft).
    """
    scored = warehouse.frame("SELECT DISTINCT protocol FROM scores WHERE edition = $1", [edition])
    protocols = available_protocols(scored["protocol"])
    by_protocol: dict[str, list[LeaderboardRow]] = {}
    for row in build_leaderboard_rows(warehouse, edition, [*protocols.values()]):
        by_protocol.setdefault(row.protocol, []).append(row)
    behind = {
        name: rows for name, rows in by_protocol.items() if not is_current(warehouse, edition, rows)
    }
    if behind:
        judges = {row.judge for rows in behind.values() for row in rows}
        # The command ranks again without involving new judges.
        usual = behind.keys() <= set(choose_protocols(warehouse, edition))
        named = [] if usual else [f" --protocol {name}" for name in behind]
        judge = "" if load_judges().default in judges else f" --judge {min(judges)}"
        raise OutdatedLeaderboard(
            f"The leaderboard of {edition} is behind its scores ({', '.join(behind)}): an "
            "evaluation was interrupted, or what the figures rest on has changed. "
            f"Run `evergreen evaluate --edition {edition}{''.join(named)}{judge}`, then publish."
        )
