"""The form in which programs and services of one's own say what they know of a report.

    {"report": "…Markdown…",
     "sources": [{"url": "https://…", "title": "…"}],          what `[1]`, `[2]`, … refer to
     "trace": [{"query": "…", "opened": ["https://…"], "parent": 0}],
     "usage": {"input_tokens": 1, "output_tokens": 2, "searches": 3},
     "cost_usd": 0.12, "model_version": "…",
     "question": false,                                         true: the report asks us back
     "error": null}                                             why there is no report

All of it may be left out but the report, or the reason why there is none.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from tasks.agents.agent import AgentUsage, Answer, Question, Source, UnreadableAnswer
from tasks.agents.json_values import MOST
from tasks.warehouse.rows import ForeignText
from tasks.warehouse.traces import SearchStep

Text = Annotated[ForeignText, Field(strict=True)]
Count = Annotated[int, Field(ge=0, le=MOST, strict=True)]
MAX_LISTED = 10_000
"""Sources, and steps of a search."""
SHOWN_PROBLEMS = 3


class GivenForm(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GivenSource(GivenForm):
    """One entry of the list that `[n]` in the report refers to."""

    url: Text
    title: Text | None = None


class GivenStep(GivenForm):
    """One step of the search."""

    query: Text = ""
    opened: tuple[Text, ...] = Field(default=(), max_length=MAX_LISTED)
    parent: Annotated[int, Field(ge=0, strict=True)] | None = None
    """Index of the earlier step that it follows from."""


class GivenUsage(GivenForm):
    """What the report took; what is not known is left out."""

    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    citation_tokens: Count | None = None
    searches: Count | None = None


class Given(GivenForm):
    """A report, and what is known of it."""

    report: Text = ""
    sources: tuple[GivenSource, ...] = Field(default=(), max_length=MAX_LISTED)
    trace: tuple[GivenStep, ...] = Field(default=(), max_length=MAX_LISTED)
    usage: GivenUsage = GivenUsage()
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] | None = None
    model_version: Text | None = None
    question: StrictBool = False
    error: Text | None = None


def told(question: Question) -> dict[str, Any]:
    """What a program or service is told of the question, as JSON holds it."""
    return {
        "job": question.job,
        "edition": question.edition,
        "assignment": question.assignment,
        "title": question.title,
        "kind": question.kind,
        "query": question.query,
        "prompt": question.prompt,
        "banned": list(question.banned),
        "conversation": [turn.model_dump() for turn in question.earlier],
    }


def answer_of(given: Any) -> Answer:
    """What a program or service gave, as an answer.

    given: its JSON, parsed.

    Raises:
        UnreadableAnswer: it is not of the form; the message names the fields.
    """
    try:
        form = Given.model_validate(without_nulls(given))
    except ValidationError as error:
        raise UnreadableAnswer(
            f"the answer is not of the form asked for: {_named(error)}"
        ) from None
    for index, step in enumerate(form.trace):
        if step.parent is not None and step.parent >= index:
            raise UnreadableAnswer(
                f"the answer is not of the form asked for: trace.{index}.parent: {step.parent} is "
                "not the index of an earlier step"
            )
    problem = form.error
    if problem is None and not form.report.strip():
        problem = "no report was given, and no reason why"
    return Answer(
        outcome="failed" if problem is not None else "question" if form.question else "report",
        text=form.report,
        sources=tuple(Source(url=said.url, title=said.title) for said in form.sources),
        trace=tuple(SearchStep(**step.model_dump()) for step in form.trace),
        model_version=form.model_version,
        usage=AgentUsage(**form.usage.model_dump()),
        cost_usd=form.cost_usd,
        error=problem,
    )


def without_nulls(given: Any) -> Any:
    """An object without the fields that are null: nothing was said of them."""
    if not isinstance(given, dict):
        return given
    return {name: value for name, value in given.items() if value is not None}


def _named(error: ValidationError) -> str:
    """The first problems, each with its field; what was given is not repeated."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [
        f"{'.'.join(str(part)[:60] for part in problem['loc']) or 'the whole'}: {problem['msg']}"
        for problem in problems[:SHOWN_PROBLEMS]
    ]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
