"""Stage leaderboard: an edition's leaderboard, then its snapshot."""

import asyncio
from collections.abc import Iterator, Sequence

from tasks.protocols.registry import get_protocol
from tasks.run import Plan
from tasks.scoring.rows import add_statistics, build_leaderboard_rows, is_current
from tasks.stage import Output, Stage, StageCounts, open_alone
from tasks.warehouse.results import AgentPair, LeaderboardRow
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


def find_pending_rows(plan: Plan) -> list[LeaderboardRow]:
    """Return the leaderboard's rows as the current scores have them; none if they are stored."""
    of = plan.selection
    rows = build_leaderboard_rows(plan.store, of.edition, [*map(get_protocol, of.protocols)])
    return [] if is_current(plan.store, of.edition, rows) else rows


async def write_leaderboard(
    warehouse: Warehouse, edition: str, rows: Sequence[LeaderboardRow]
) -> None:
    """Replace the edition's leaderboard and pairs, with intervals and ranks, and export the
    snapshot."""
    whole, pairs = await asyncio.to_thread(add_statistics, warehouse, edition, rows)
    changes = []
    for name in sorted({row.protocol for row in rows}):
        replaced = {"edition": edition, "protocol": name}
        of_this = [row for row in whole if row.protocol == name]
        differing = [pair for pair in pairs if pair.protocol == name]
        changes.append(Change(LeaderboardRow, of_this, replacing=replaced))
        changes.append(Change(AgentPair, differing, replacing=replaced))
    await warehouse.write_async(*changes)
    export_edition(warehouse, edition)


def _count(plan: Plan) -> Iterator[StageCounts]:
    edition = plan.selection.edition
    n = plan.store.frame("SELECT count(*) FROM leaderboard WHERE edition = $1", [edition]).item()
    yield StageCounts(edition=edition, stage="leaderboard", done=n)


LEADERBOARD = Stage(
    name="leaderboard",
    task="write_leaderboard",
    item="row",
    inputs=("scores",),
    outputs=(Output("leaderboard row", LeaderboardRow), Output("comparison", AgentPair)),
    find_pending=find_pending_rows,
    open=open_alone(
        lambda run, rows, _: write_leaderboard(run.store, run.plan.selection.edition, rows)
    ),
    split=lambda rows: [rows],
    title=lambda rows: rows[0].edition,
    retry_on=(Exception,),
    fails_run=True,
    count=_count,
)
