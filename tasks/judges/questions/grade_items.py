"""What is a report worth by each item of a rubric?"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, StringConstraints

from tasks.base import Frozen
from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.prompts import find_attachment_problem
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.models.attachments import Attachment
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import BlockedSource

ItemId = Annotated[str, StringConstraints(pattern=r"^[\w.:-]{1,80}$")]
ItemValue = Annotated[str, StringConstraints(pattern=r"^-?\d{1,6}(\.\d{1,6})?$")]
MAX_VALUE = 1_000_000
"""Bound of the absolute value of a score; see `ItemValue`."""


def _as_text(value: object) -> object:
    """Return a number as text: models without an enforced schema write 1 for "1"."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_VALUE:
        return f"{value + 0:g}"
    return value.strip() if isinstance(value, str) else value


class ItemGrade(ReplyModel):
    evidence: str
    """Sentences quoted from the report; may be empty."""
    item: str
    """The item's id, or its text if the request echoes texts."""
    reason: str
    score: Annotated[str, BeforeValidator(_as_text)]
    """One of the item's allowed values."""


class RubricItem(Frozen):
    """A rubric item as a judge sees it."""

    id: ItemId
    """In the prompt it stands outside the fences."""
    text: str
    allowed: tuple[ItemValue, ...]
    """The allowed values, also outside the fences."""
    instructions: str = ""
    """How to judge this item; set by configured rubrics, never by imported ones."""


class GradeItems(DecisionRequest):
    """What is the report worth by each item? Labels: one of the item's allowed values.

    Sources: DeepResearch Bench II (batches; `1`, `0`, `-1`), Rigorous Bench (one item per call).
    An answer's evidence is the judge's quotation of the report, verified or not.
    """

    action: ClassVar[str] = "grade the items of a rubric"
    decided: ClassVar[str] = "items"
    forms = (ItemResults[ItemGrade],)

    question: str
    report: str
    items: tuple[RubricItem, ...]
    """Items, all judged in one call."""
    blocked: BlockedSource | None = None
    attachments: tuple[Attachment, ...] = ()
    """The files shown instead of the report's text."""
    pictures: tuple[Attachment, ...] = ()
    """Pictures in the report, shown beside its text; none if there are attachments."""
    echo: bool = False
    """Whether the judge identifies items by repeating their text, not by their ids."""
    asked_once: bool = False
    """Whether most reports are shown to the judge only once: its provider then need not keep
    them."""

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each item, all in one call; a missing item or a value that is not allowed
        makes the whole answer unusable."""
        names = [item.text if self.echo else item.id for item in self.items]
        allowed = {name: item.allowed for name, item in zip(names, self.items, strict=True)}
        values: dict[str, Any] = {
            "question": self.question,
            "report": self.report,
            "items": [_template_item(item, self.echo) for item in self.items],
            "blocked": self.blocked.model_dump() if self.blocked else None,
            "echo": self.echo,
        }
        attached = None
        if self.attachments:
            if reason := find_attachment_problem(model.name, model.reads, self.attachments):
                said = f"not_assessed: the report is no text; {reason}"
                return [JudgeAnswer(status=Status.NOT_ASSESSED, reason=said)] * self.n_items
            attached = model.attach(self.attachments, self.prompt)
            values["report"] = attached.placeholder
        elif pictures := tuple(each for each in self.pictures if each.media_type in model.reads):
            attached = model.attach_pictures(pictures)  # a fallback may read fewer than its judge

        def check(results: Sequence[ItemGrade]) -> None:
            for result in results:
                if result.score not in allowed[result.item]:
                    raise InvalidReply(
                        f"score: {result.score[:40]!r} of item {result.item[:40]!r} is none of "
                        f"{', '.join(allowed[result.item])}"
                    )

        scores = tuple(dict.fromkeys(value for item in self.items for value in item.allowed))
        outcome = await model.ask_items(
            self.prompt,
            values,
            ItemResults[ItemGrade],
            "item",
            names,
            check,
            attachments=attached,
            allowed_values={"score": scores},
            shared_text="" if self.asked_once else "report",
        )
        return make_answers(
            outcome,
            self.n_items,
            lambda grade: ItemReading(grade.score, grade.reason, grade.evidence.strip() or None),
        )


def _template_item(item: RubricItem, echo: bool) -> dict[str, Any]:
    """Return an item for the prompt's template; without its id if the text identifies it."""
    shown = item.model_dump() | {"allowed": ", ".join(item.allowed)}
    return shown | {"id": ""} if echo else shown
