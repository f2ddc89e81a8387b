"""The table of stages, in the order of the pipeline."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from tasks.assignments import ASSIGNMENTS
from tasks.claims import CLAIMS
from tasks.diagnostics import DIAGNOSTICS
from tasks.judging.protocols import choose_protocols
from tasks.key_points import KEY_POINTS
from tasks.leaderboard import LEADERBOARD
from tasks.pages import ABSENT, FETCH, READ
from tasks.protocols.registry import available_protocols
from tasks.questions import QUESTIONS
from tasks.reports import REPORTS
from tasks.run import Plan, Selection
from tasks.scores import SCORES
from tasks.scoring.pending import count_scored
from tasks.stage import Stage, StageCounts
from tasks.verdicts import VERDICTS
from tasks.warehouse.snapshot import is_snapshot_current
from tasks.warehouse.store import Readable

STAGES: tuple[Stage[Any, Any], ...] = (
    ASSIGNMENTS, QUESTIONS, REPORTS, CLAIMS, *FETCH.values(), READ, ABSENT, KEY_POINTS, DIAGNOSTICS,
    VERDICTS, SCORES, LEADERBOARD,
)  # fmt: skip
"""All but drafts, whose state is in files, and collecting, which needs the wiki to know it."""
ARTICLES = """
SELECT count(*) AS done, (SELECT count(*) FROM import_issues
    WHERE edition = $1 AND severity = 'unreadable' AND scope = '') AS failed
FROM articles WHERE edition = $1
"""
EVALUATION = (CLAIMS, DIAGNOSTICS, KEY_POINTS, VERDICTS, SCORES, LEADERBOARD)
"""The stages from the reports to the leaderboard."""


def is_done(plan: Plan, stages: Iterable[Stage[Any, Any]]) -> bool:
    """Whether nothing is pending of these stages, and the edition's snapshot is current."""
    if any(plan.find_pending(stage) for stage in stages):
        return False
    return is_snapshot_current(plan.store, plan.selection.edition)


def count_stages(source: Readable, edition: str, judge: str) -> list[StageCounts]:
    """Count items per stage, in pipeline order; verdicts and scores per protocol."""
    scored = count_scored(source, edition, judge)
    protocols = available_protocols({*choose_protocols(source, edition), *scored})
    selection = Selection(edition=edition, protocols=tuple(protocols), judge=judge)
    return [*_count_all(Plan(source, selection))]


def _count_all(plan: Plan) -> Iterator[StageCounts]:
    yield from _count_articles(plan)
    before = STAGES[: STAGES.index(VERDICTS)]
    for stage in before:
        yield from stage.count(plan)
    yield from chain.from_iterable(zip(VERDICTS.count(plan), SCORES.count(plan), strict=True))
    yield from LEADERBOARD.count(plan)


def _count_articles(plan: Plan) -> list[StageCounts]:
    """Count the edition's articles, and those that could not be imported."""
    edition = plan.selection.edition
    [record] = plan.store.frame(ARTICLES, [edition]).to_dicts()
    return [StageCounts(edition=edition, stage="articles", **record)]
