"""DeepResearch Bench's decisions put to a model: citations of a page, two articles in one call."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import Answer
from tasks.judges.forms.deepresearch import CitationVerdicts, PairScore, PairScores
from tasks.judges.llm.page import held_against
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.research import CheckCitations, ScorePair
from tasks.models.gateway import InvalidReply, Outcome

BEST = 10


async def checked_citations(asking: Asking, request: CheckCitations) -> Sequence[Answer]:
    """One answer per claim; a long page is shown as an excerpt."""
    return await held_against(
        asking, request.prompt, request.claims, request.page, CitationVerdicts
    )


async def scored_pair(asking: Asking, request: ScorePair) -> Sequence[Answer]:
    """Two answers per criterion, the report's first, whichever article stood first."""
    n = len(request.criteria)
    texts = (request.report, request.reference)
    values: dict[str, Any] = {
        "task": request.task,
        "first": texts[0] if request.report_first else texts[1],
        "second": texts[1] if request.report_first else texts[0],
        "criteria": [criterion.model_dump() for criterion in request.criteria],
    }
    ids = [criterion.id for criterion in request.criteria]
    outcome: Outcome[list[PairScore]] = await asking.decided(
        request.prompt, values, PairScores, "criterion", ids, _check
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * request.n_items
    answers = []
    for said in outcome.value:
        scores = (said.score_1, said.score_2)
        for score in scores if request.report_first else reversed(scores):
            answers.append(ok(outcome, n, f"{score:g}", said.reason))
    return answers


def _check(results: Sequence[PairScore]) -> None:
    for said in results:
        for score in (said.score_1, said.score_2):
            if not 0 <= score <= BEST:
                raise InvalidReply(f"criterion {said.criterion[:40]!r}: {score} is not 0 to {BEST}")
