"""Find what an evaluation has to do, without starting a server or calling a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tasks.judges.registry import load_judge
from tasks.judges.research import ExtractKeyPoints
from tasks.judging.cells import CellPlan, plan_cells
from tasks.pending.diagnostics import find_pending_diagnostics
from tasks.pending.extractions import PendingExtraction, find_pending_extractions
from tasks.pending.key_points import PendingKeyPoints, find_pending_key_points, need_key_points
from tasks.protocols.registry import get_protocol
from tasks.scoring.pending import has_outdated_scores
from tasks.scoring.rows import build_leaderboard_rows, is_current
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.snapshot import is_snapshot_current
from tasks.warehouse.store import Warehouse, get_open_warehouse


@dataclass(frozen=True)
class Evaluation:
    """The parameters of an evaluation that all its stages share."""

    warehouse: str
    edition: str
    protocols: tuple[str, ...]
    agents: tuple[str, ...]
    judge: str
    extractor: str | None = None
    """The judge that extracts facts and claims; None: keep existing ones and extract the rest
    offline."""
    batch: bool = False
    """Whether to call models through their batch APIs."""
    assignments: tuple[str, ...] = ()
    """Judge only the reports of these; the scores and the leaderboard count the others as open."""

    @property
    def store(self) -> Warehouse:
        """The warehouse, open in this process."""
        return get_open_warehouse(self.warehouse)

    def includes(self, assignment: str) -> bool:
        """Whether to judge the reports of this assignment."""
        return not self.assignments or assignment in self.assignments


class PendingScores(NamedTuple):
    """An agent's reports whose scores under one protocol are out of date."""

    protocol: str
    agent: str
    cells: list[CellPlan]


def describe_if_done(run: Evaluation) -> str | None:
    """Describe the outcome if nothing is pending; None if something is."""
    store = run.store
    if select_extractions(run) or find_pending_diagnostics(store, run.edition, run.agents):
        return None
    if select_key_points(run):
        return None
    cells = plan_run_cells(run)
    mine = select_cells(run, cells)
    if find_pending_cells(mine) or find_pending_scores(store, cells):
        return None
    if not is_current(store, run.edition, compute_current_rows(run)):
        return None
    return describe_outcome(run, mine) if is_snapshot_current(store, run.edition) else None


def describe_outcome(run: Evaluation, cells: Sequence[CellPlan]) -> str:
    """Describe what was judged, or why nothing could be."""
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


def select_extractions(run: Evaluation) -> list[PendingExtraction]:
    """Return the texts whose statements this run is to extract."""
    extractor = load_judge(run.extractor) if run.extractor else None
    found = find_pending_extractions(run.store, run.edition, run.agents, extractor)
    return [item for item in found if run.includes(item.assignment)]


def select_key_points(run: Evaluation) -> list[PendingKeyPoints]:
    """Return the assignments whose key points this run is to make; none if no protocol needs them
    or the judge cannot make them."""
    if not need_key_points(run.protocols) or ExtractKeyPoints not in load_judge(run.judge).decides:
        return []
    found = find_pending_key_points(run.store, run.edition, run.agents)
    return [item for item in found if run.includes(item.assignment)]


def plan_run_cells(run: Evaluation) -> list[CellPlan]:
    """Plan every cell of the evaluation."""
    decider = load_judge(run.judge)
    return [
        plan
        for name in run.protocols
        for plan in plan_cells(run.store, run.edition, get_protocol(name), decider, run.agents)
    ]


def select_cells(run: Evaluation, cells: Sequence[CellPlan]) -> list[CellPlan]:
    """Return the cells that belong to this run's assignments."""
    return [cell for cell in cells if run.includes(cell.assignment)]


def find_pending_cells(cells: Sequence[CellPlan]) -> list[CellPlan]:
    """Return the cells that are pending or failed."""
    return [cell for cell in cells if cell.state in ("pending", "failed")]


def find_pending_scores(warehouse: Warehouse, cells: Sequence[CellPlan]) -> list[PendingScores]:
    """Return the reports whose stored scores are out of date."""
    groups: dict[tuple[str, str], list[CellPlan]] = {}
    for cell in cells:
        groups.setdefault((cell.protocol, cell.agent), []).append(cell)
    return [
        PendingScores(*key, of) for key, of in groups.items() if has_outdated_scores(warehouse, of)
    ]


def compute_current_rows(run: Evaluation) -> list[LeaderboardRow]:
    """Compute the leaderboard's rows from the current scores."""
    protocols = [get_protocol(name) for name in run.protocols]
    return build_leaderboard_rows(run.store, run.edition, protocols)
