"""Stage leaderboard: an edition's leaderboard, then its snapshot."""

import asyncio

from tasks.scoring.rows import add_statistics
from tasks.stage import stage_task
from tasks.warehouse.results import AgentPair, LeaderboardRow
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


@stage_task("leaderboard · {edition}")
async def write_leaderboard(warehouse: Warehouse, edition: str, rows: list[LeaderboardRow]) -> str:
    """Replace the edition's leaderboard and pairs, with intervals and ranks, and export the
    snapshot; return its folder."""
    whole, pairs = await asyncio.to_thread(add_statistics, warehouse, edition, rows)
    changes = []
    for name in sorted({row.protocol for row in rows}):
        replaced = {"edition": edition, "protocol": name}
        of_this = [row for row in whole if row.protocol == name]
        differing = [pair for pair in pairs if pair.protocol == name]
        changes.append(Change(LeaderboardRow, of_this, replacing=replaced))
        changes.append(Change(AgentPair, differing, replacing=replaced))
    await warehouse.write_async(*changes)
    return str(export_edition(warehouse, edition))
