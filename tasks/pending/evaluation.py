"""What an evaluation has to do: read from the warehouse, before a server or a model is asked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.judges.registry import judge
from tasks.judges.research import ExtractKeyPoints
from tasks.judging.cells import CellPlan, plan_cells
from tasks.pending.diagnostics import undiagnosed
from tasks.pending.extractions import Unextracted, unextracted
from tasks.pending.key_points import Unpointed, go_by_key_points, unpointed
from tasks.protocols.registry import protocol
from tasks.scoring.pending import unscored
from tasks.scoring.rows import is_current, leaderboard_rows
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.snapshot import is_exported
from tasks.warehouse.store import Warehouse, get_open_warehouse


@dataclass(frozen=True)
class Evaluation:
    """What is evaluated: the keys every stage works from."""

    warehouse: str
    edition: str
    protocols: tuple[str, ...]
    agents: tuple[str, ...]
    judge: str
    extractor: str | None = None
    """The judge that extracts facts and claims; None: what is there stays, and the offline
    extraction does the rest."""
    batch: bool = False
    """Models are asked through their batch APIs."""
    assignments: tuple[str, ...] = ()
    """Only these reports are judged; the scores and the leaderboard count the others as open."""

    def includes(self, assignment: str) -> bool:
        """Whether the reports of this assignment are to be judged."""
        return not self.assignments or assignment in self.assignments


def outcome_if_done(run: Evaluation) -> str | None:
    """How the evaluation stands where nothing is left to do; None: something is."""
    store = get_open_warehouse(run.warehouse)
    if pending_extractions(run) or undiagnosed(store, run.edition, run.agents):
        return None
    if pending_points(run):
        return None
    cells = planned_cells(run)
    mine = chosen(run, cells)
    if pending(mine) or unscored_groups(store, cells):
        return None
    if not is_current(store, run.edition, current_rows(run)):
        return None
    return outcome(run, mine) if is_exported(store, run.edition) else None


def outcome(run: Evaluation, cells: Sequence[CellPlan]) -> str:
    """What was judged, where nothing is left to do: perhaps nothing could be."""
    states = Counter(cell.state for cell in cells)
    names = ", ".join(run.protocols)
    if not states:
        return f"{run.edition} has no reports that {names} could judge: nothing was judged."
    if set(states) == {"not_assessed"}:
        return (
            f"{run.edition}: the judge {run.judge} cannot decide {names}: nothing was judged. "
            "Name one that calls a model with --judge."
        )
    return f"{run.edition} is evaluated."


def pending_extractions(run: Evaluation) -> list[Unextracted]:
    """The texts whose statements are still to be extracted."""
    extractor: Any = judge(run.extractor) if run.extractor else None
    found = unextracted(get_open_warehouse(run.warehouse), run.edition, run.agents, extractor)
    return [item for item in found if run.includes(item.assignment)]


def pending_points(run: Evaluation) -> list[Unpointed]:
    """The assignments whose key points are to be made: none where no protocol goes by them, or
    the judge cannot make any."""
    if not go_by_key_points(run.protocols) or ExtractKeyPoints not in judge(run.judge).decides:
        return []
    found = unpointed(get_open_warehouse(run.warehouse), run.edition, run.agents)
    return [item for item in found if run.includes(item.assignment)]


def planned_cells(run: Evaluation) -> list[CellPlan]:
    """Every cell of the evaluation as it stands."""
    warehouse = get_open_warehouse(run.warehouse)
    decider = judge(run.judge)
    return [
        plan
        for name in run.protocols
        for plan in plan_cells(warehouse, run.edition, protocol(name), decider, run.agents)
    ]


def chosen(run: Evaluation, cells: Sequence[CellPlan]) -> list[CellPlan]:
    """Those of the cells that this run is to judge."""
    return [cell for cell in cells if run.includes(cell.assignment)]


def pending(cells: Sequence[CellPlan]) -> list[CellPlan]:
    """Those of the cells that are still to be judged, or failed before."""
    return [cell for cell in cells if cell.state in ("pending", "failed")]


def unscored_groups(
    warehouse: Warehouse, cells: Sequence[CellPlan]
) -> list[tuple[str, str, list[CellPlan]]]:
    """(protocol, agent, cells) of which the stored scores are out of date."""
    groups: dict[tuple[str, str], list[CellPlan]] = {}
    for cell in cells:
        groups.setdefault((cell.protocol, cell.agent), []).append(cell)
    return [(*key, of) for key, of in groups.items() if unscored(warehouse, of)]


def current_rows(run: Evaluation) -> list[LeaderboardRow]:
    """The leaderboard as the scores have it now."""
    protocols = [protocol(name) for name in run.protocols]
    return leaderboard_rows(get_open_warehouse(run.warehouse), run.edition, protocols)
