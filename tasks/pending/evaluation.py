"""Find what an evaluation has to do, without starting a server or calling a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tasks.base import format_count
from tasks.configuration.models import load_judges
from tasks.judges.decisions import Judge
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.registry import OFFLINE, load_judge, resolve_extractor
from tasks.judging.cells import CellPlan, plan_cells
from tasks.metrics.style import STYLE_VERSION
from tasks.pending.extractions import (
    PendingExtraction,
    find_kept_extractions,
    find_pending_extractions,
)
from tasks.pending.key_points import PendingKeyPoints, find_pending_key_points, need_key_points
from tasks.protocols.registry import get_protocol
from tasks.scoring.pending import has_outdated_scores
from tasks.scoring.rows import build_leaderboard_rows, is_current
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.snapshot import is_snapshot_current
from tasks.warehouse.store import Warehouse, get_open_warehouse

TEXTS = """
SELECT r.edition, r.agent, r.assignment, r.text, r.text_sha
FROM reports AS r JOIN assignments AS a USING (edition, assignment)
WHERE a.kind <> 'find_claims'
UNION ALL
SELECT a.edition, '', a.assignment, t.text, t.text_sha
FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.kind = 'write_article'
"""


@dataclass(frozen=True)
class Evaluation:
    """The parameters of an evaluation that all its stages share."""

    warehouse: str
    edition: str
    protocols: tuple[str, ...]
    agents: tuple[str, ...]
    judge: str
    extractor: str | None = None
    """Who extracts facts and claims that nobody has extracted: a judge, or `offline`; None: the
    judge, if it calls a model."""
    extract_again: bool = False
    """Whether the extractor also replaces what others have extracted, except what is published."""
    batch: bool = False
    """Whether to call models through their batch APIs."""
    assignments: tuple[str, ...] = ()
    """Judge only the reports of these; the scores and the leaderboard count the others as open."""

    @property
    def extracting_judge(self) -> str | None:
        """The judge whose model extracts; None: the offline extractor does."""
        name = resolve_extractor(self.judge, self.extractor)
        return None if name == OFFLINE else name

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


def plan_extraction(
    store: Warehouse, edition: str, agents: Sequence[str], extractor: str | None
) -> Evaluation:
    """Plan a run that only extracts claims, to know which pages reports cite."""
    return Evaluation(store.url, edition, (), tuple(agents), load_judges().default, extractor)


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
    """Return the texts whose statements this run is to extract.

    A model extracts only what the run's protocols use, the offline extractor everything.
    """
    extractor = _load_extractor(run)
    found = find_pending_extractions(
        run.store, run.edition, run.agents, extractor, again=run.extract_again
    )
    return [
        item
        for item in found
        if run.includes(item.assignment)
        and (extractor is None or item.stays_offline or _uses_statements(run, item))
    ]


def select_bought_extractions(run: Evaluation) -> list[PendingExtraction]:
    """Return those of the texts that a model is to extract."""
    if run.extracting_judge is None:
        return []
    return [item for item in select_extractions(run) if not item.stays_offline]


def describe_kept_extractions(run: Evaluation) -> str | None:
    """Say which statements a model is going to judge that another has extracted, and how to replace
    them; None if there are none."""
    if run.extract_again or resolve_extractor(run.judge, None) == OFFLINE:
        return None
    extractor = load_judge(run.extracting_judge or run.judge)
    kept: Counter[tuple[str, str]] = Counter()
    for item, source, version in find_kept_extractions(
        run.store, run.edition, run.agents, extractor
    ):
        if run.includes(item.assignment) and _uses_statements(run, item):
            by = "offline" if source == "offline" else f"by the judge {version}"
            kept["claims" if item.agent else "facts", by] += 1
    if not kept:
        return None
    named = ", ".join(
        f"{what} of {format_count(n, 'report' if what == 'claims' else 'article')} (extracted {by})"
        for (what, by), n in sorted(kept.items())
    )
    asked = "" if extractor.name == run.judge else f"--extractor {extractor.name} "
    return (
        f"Extracted already, and kept: {named}. To have {extractor.name} extract them: "
        f"evergreen evaluate --edition {run.edition} --judge {run.judge} {asked}--extract-again"
    )


def _load_extractor(run: Evaluation) -> Judge | None:
    return load_judge(run.extracting_judge) if run.extracting_judge else None


def _uses_statements(run: Evaluation, item: PendingExtraction) -> bool:
    """Whether any protocol of the run uses the statements of a text; without protocols claims
    alone are used: they tell which pages are cited."""
    if not run.protocols:
        return bool(item.agent)
    wanted = "claims" if item.agent else "facts"
    return any(
        wanted in protocol.inputs and item.kind in protocol.kinds
        for protocol in map(get_protocol, run.protocols)
    )


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
    """Return the cells that a run is to judge."""
    return [cell for cell in cells if cell.is_pending]


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


def find_pending_diagnostics(
    warehouse: Warehouse, edition: str, agents: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return (agent, assignment) of the texts without current diagnostics; agent '' stands for the
    articles."""
    frame = warehouse.frame(
        f"SELECT agent, assignment FROM ({TEXTS}) AS t WHERE edition = $1 AND NOT EXISTS ("
        "SELECT 1 FROM diagnostics AS d WHERE d.edition = t.edition AND d.agent = t.agent "
        "AND d.assignment = t.assignment AND d.text_sha = t.text_sha AND d.version = $2) "
        "ORDER BY ALL",
        [edition, STYLE_VERSION],
    )
    return [
        (agent, assignment)
        for agent, assignment in frame.iter_rows()
        if not agents or agent in ("", *agents)
    ]
