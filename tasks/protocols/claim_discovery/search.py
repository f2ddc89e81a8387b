"""Figures of an agent's search: coverage of the needed queries, its extent and its shape.

The shape (depth, branching, returns to an earlier branch, repeated queries) follows LiveDRBench's
analysis of search traces. Its prompts and code for them are not published, so the definitions are
this project's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from tasks.extraction.urls import normalise_url
from tasks.judges.decisions import NO_TRUTH, Judge
from tasks.metrics.integrated_score import normalise_text
from tasks.metrics.ratios import share
from tasks.protocols.case import ItemAnswer, name_answers
from tasks.protocols.claim_discovery.matching import (
    MatchQuestion,
    build_compared_claim,
    format_undecided,
    match_level,
)
from tasks.protocols.figures import FigureValues, VerdictLabels
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.traces import TRACE, SearchStep

Parents = Sequence[int | None]
"""For each step the index of the earlier step that it follows from; None for a new start."""


def search_depth(parents: Parents) -> int | None:
    """Return the length, in steps, of the longest chain; None without steps.

    Raises:
        ValueError: a step follows from itself or from a later one.
    """
    _check_order(parents)
    lengths: list[int] = []
    for parent in parents:
        lengths.append(1 if parent is None else lengths[parent] + 1)
    return max(lengths, default=None)


def search_branching(parents: Parents) -> float | None:
    """Return the mean number of children of the steps that have any; None if no step has."""
    children = Counter(parent for parent in parents if parent is not None)
    return share(children.total(), len(children))


def count_returns(parents: Parents) -> int:
    """Count the steps that return to an earlier branch: they follow from a step that is neither
    the one just before nor one of those which led to it.

    Another step from the same start is no return, as the branch was not left for another one.

    Raises:
        ValueError: a step follows from itself or from a later one.
    """
    _check_order(parents)
    sizes = [1] * len(parents)
    for index in range(len(parents) - 1, -1, -1):
        if (parent := parents[index]) is not None:
            sizes[parent] += sizes[index]
    # Numbers all steps depth first, so that what a step led to is one run of numbers.
    numbers: list[int] = []
    following: list[int] = []
    next_start = 0
    for index, parent in enumerate(parents):
        if parent is None:
            number, next_start = next_start, next_start + sizes[index]
        else:
            number = following[parent]
            following[parent] += sizes[index]
        numbers.append(number)
        following.append(number + 1)
    return sum(
        not numbers[parent] <= numbers[index - 1] < numbers[parent] + sizes[parent]
        for index, parent in enumerate(parents)
        if parent is not None
    )


def count_repeated(queries: Iterable[str]) -> int:
    """Count the queries that were made before, apart from case, white space and the like."""
    every = [normalise_text(query) for query in queries]
    return len(every) - len({*every})


def _check_order(parents: Parents) -> None:
    for index, parent in enumerate(parents):
        if parent is not None and not 0 <= parent < index:
            raise ValueError(f"step {index} follows from step {parent}, which is not before it")


QUERY = "query"
MATCH_QUERIES = "claim_discovery/match_queries"
NO_TRACE = "not_assessed: there is no search trace"
NO_NEEDED = "not_assessed: nobody says which queries the question needs"
NO_QUERY = "not_assessed: the trace names no query"
NO_PAGE = "not_assessed: the trace names no page that was opened"
NO_PARENTS = "not_assessed: the trace does not say which step follows from which"

SEARCH_METRICS = ("query_coverage", "search_count", "search_opened", "search_repeated",
                  "search_depth", "search_branching", "search_returns")  # fmt: skip


async def decide_search(
    trace: str | None, needed: Sequence[str], question: MatchQuestion, judge: Judge
) -> list[ItemAnswer]:
    """Decide whether each needed query was made; the judge decides about other wordings."""
    made = [step.query for step in parse_steps(trace) if step.query.strip()]
    if not made or not needed:
        return []
    answers = await match_level(
        judge,
        question,
        [build_compared_claim("", query) for query in made],
        [build_compared_claim("", query) for query in needed],
        MATCH_QUERIES,
    )
    return name_answers(QUERY, map(str, range(len(needed))), answers)


def parse_steps(trace: str | None) -> tuple[SearchStep, ...]:
    """Parse the steps of a stored trace; empty without a trace."""
    return TRACE.validate_json(trace) if trace else ()


def compute_search_figures(
    trace: str | None, needed: Sequence[str], verdicts: VerdictLabels
) -> dict[str, FigureValues]:
    """Compute coverage (a share of the needed queries) and the counts of a trace; each is null,
    with the reason, where the trace does not say it."""
    steps = parse_steps(trace)
    if not steps:
        return dict.fromkeys(SEARCH_METRICS, FigureValues(None, reason=NO_TRACE))
    queries = [step.query for step in steps if step.query.strip()]
    opened = {normalise_url(url) or url for step in steps for url in step.opened}
    return {
        "query_coverage": _compute_coverage(steps, needed, verdicts),
        "search_count": _build_count(len(queries) or None, NO_QUERY),
        "search_opened": _build_count(len(opened) or None, NO_PAGE),
        "search_repeated": _build_count(count_repeated(queries) if queries else None, NO_QUERY),
        **_compute_shape([step.parent for step in steps]),
    }


def _compute_shape(parents: Sequence[int | None]) -> dict[str, FigureValues]:
    """Compute what only a trace can tell that says which step follows from which."""
    known = any(parent is not None for parent in parents)
    counted = {
        "search_depth": search_depth(parents) if known else None,
        "search_branching": search_branching(parents),
        "search_returns": count_returns(parents) if known else None,
    }
    return {name: _build_count(value, NO_PARENTS) for name, value in counted.items()}


def _build_count(value: float | None, reason: str) -> FigureValues:
    return FigureValues(None, reason=reason) if value is None else FigureValues(float(value), 1)


def _compute_coverage(
    steps: Sequence[SearchStep], needed: Sequence[str], verdicts: VerdictLabels
) -> FigureValues:
    if not needed:
        return FigureValues(None, reason=NO_NEEDED)
    if not any(step.query.strip() for step in steps):
        return FigureValues(0.0, len(needed))
    query_verdicts = [
        verdicts.get((QUERY, str(index)), (Status.JUDGE_ERROR, None))
        for index in range(len(needed))
    ]
    labels = [label for status, label in query_verdicts if status == Status.OK]
    n_open = sum(status in OPEN_STATUSES for status, _ in query_verdicts)
    made = sum(label != NO_TRUTH for label in labels)
    if not labels:
        return FigureValues(None, 0, n_open, format_undecided(query_verdicts[0][0]))
    return FigureValues(float(made), len(labels), n_open)
