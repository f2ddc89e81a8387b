"""How an agent searched: what its trace covers of the queries a question needs."""

from collections.abc import Mapping, Sequence

from tasks.judges.decisions import NO_TRUTH, Judge
from tasks.metrics.traces import branching, depth
from tasks.protocols.case import Decided
from tasks.protocols.claim_matching import Question, match_level, statement, undecided_reason
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.traces import TRACE, SearchStep

QUERY = "query"
MATCH_QUERIES = "claim_discovery/match_queries"
NO_TRACE = "not_assessed: there is no search trace"
NO_NEEDED = "not_assessed: nobody says which queries the question needs"
NO_PARENTS = "not_assessed: the trace does not say which step follows from which"

Verdicts = Mapping[tuple[str, str], tuple[str, str | None]]
"""(step, item) → status, label."""
Figure = tuple[float | None, int, int, str | None]
"""Numerator, items, open items, why there is no value."""


async def search_decisions(
    trace: str | None, needed: Sequence[str], question: Question, judge: Judge
) -> list[Decided]:
    """Whether each needed query was made; in other words is for the judge to say."""
    made = [step.query for step in steps_of(trace) if step.query.strip()]
    if not made or not needed:
        return []
    answers = await match_level(
        judge,
        question,
        [statement("", query) for query in made],
        [statement("", query) for query in needed],
        MATCH_QUERIES,
    )
    return [
        Decided(step=QUERY, item=str(index), answer=answer) for index, answer in enumerate(answers)
    ]


def steps_of(trace: str | None) -> tuple[SearchStep, ...]:
    """The steps of a stored trace; none where there is no trace."""
    return TRACE.validate_json(trace) if trace else ()


def search_figures(
    trace: str | None,
    needed: Sequence[str],
    verdicts: Verdicts,
) -> dict[str, Figure]:
    """Coverage (a share of the needed queries), depth (steps), branching (steps per step)."""
    steps = steps_of(trace)
    if not steps:
        return dict.fromkeys(
            ("query_coverage", "search_depth", "search_branching"), (None, 0, 0, NO_TRACE)
        )
    parents = [step.parent for step in steps]
    known = any(parent is not None for parent in parents)
    deepest, wide = depth(parents), branching(parents)
    unknown: Figure = (None, 0, 0, NO_PARENTS)
    return {
        "query_coverage": _coverage(steps, needed, verdicts),
        "search_depth": (float(deepest), 1, 0, None) if known and deepest else unknown,
        "search_branching": (wide, 1, 0, None) if wide is not None else unknown,
    }


def _coverage(
    steps: Sequence[SearchStep],
    needed: Sequence[str],
    verdicts: Verdicts,
) -> Figure:
    if not needed:
        return None, 0, 0, NO_NEEDED
    if not any(step.query.strip() for step in steps):
        return 0.0, len(needed), 0, None
    said = [
        verdicts.get((QUERY, str(index)), (Status.JUDGE_ERROR, None))
        for index in range(len(needed))
    ]
    labels = [label for status, label in said if status == Status.OK]
    n_open = sum(status in OPEN_STATUSES for status, _ in said)
    made = sum(label != NO_TRUTH for label in labels)
    if not labels:
        return None, 0, n_open, undecided_reason(said[0][0])
    return float(made), len(labels), n_open, None
