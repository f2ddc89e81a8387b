"""Items of a rubric put to a model with the report: as many in one call as the protocol asks."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import Answer
from tasks.judges.forms.rubrics import ItemGrade, ItemGrades
from tasks.judges.llm.attachments import why_not_shown
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.research import GradeItems, RubricItem
from tasks.models.gateway import InvalidReply, Outcome
from tasks.warehouse.rows import Status


async def graded_items(asking: Asking, request: GradeItems) -> Sequence[Answer]:
    """One answer per item, all in one call; a value that is not allowed makes the answer one that
    cannot be used, as a missing item does."""
    n = request.n_items
    names = [item.text if request.echo else item.id for item in request.items]
    allowed = {name: item.allowed for name, item in zip(names, request.items, strict=True)}
    values: dict[str, Any] = {
        "question": request.question,
        "report": request.report,
        "items": [_shown(item, request.echo) for item in request.items],
        "blocked": request.blocked.model_dump() if request.blocked else None,
        "echo": request.echo,
    }
    attached = None
    if request.attachments:
        if reason := why_not_shown(asking.judge, asking.reads, request.attachments):
            said = f"not_assessed: the report is no text; {reason}"
            return [Answer(status=Status.NOT_ASSESSED, reason=said)] * n
        attached = asking.attached(request.attachments, request.prompt)
        values["report"] = attached.instead

    def check(results: Sequence[ItemGrade]) -> None:
        for result in results:
            if result.score not in allowed[result.item]:
                raise InvalidReply(
                    f"score: {result.score[:40]!r} of item {result.item[:40]!r} is none of "
                    f"{', '.join(allowed[result.item])}"
                )

    scores = tuple(dict.fromkeys(value for item in request.items for value in item.allowed))
    outcome: Outcome[list[ItemGrade]] = await asking.decided(
        request.prompt, values, ItemGrades, "item", names, check, beside=attached,
        one_of={"score": scores},
    )  # fmt: skip
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [
        ok(outcome, n, grade.score, grade.reason, grade.evidence.strip() or None)
        for grade in outcome.value
    ]


def _shown(item: RubricItem, echo: bool) -> dict[str, Any]:
    """As the template sees it; the id is left out where the text stands for it."""
    shown = item.model_dump() | {"allowed": ", ".join(item.allowed)}
    return shown | {"id": ""} if echo else shown
