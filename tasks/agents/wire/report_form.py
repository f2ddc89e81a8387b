"""The JSON form in which your own programs and services return a report.

    {"report": "…Markdown…",
     "sources": [{"url": "https://…", "title": "…"}],          for `[1]`, `[2]`, … in the report
     "trace": [{"query": "…", "opened": ["https://…"], "parent": 0}],
     "usage": {"input_tokens": 1, "output_tokens": 2, "searches": 3},
     "cost_usd": 0.12, "model_version": "…",
     "question": false,                                         true: the report is a question
     "error": null}                                             why there is no report

Only `report`, or `error` if there is no report, is required.
"""

from typing import Annotated, Any

from pydantic import Field, StrictBool, ValidationError

from tasks.agents.agent import AgentUsage, JobAnswer, JobRequest, ReportSource, UnreadableJobAnswer
from tasks.base import Frozen
from tasks.warehouse.rows import ForeignText
from tasks.warehouse.traces import SearchStep

MAX_ITEMS = 10_000
"""The most sources, search steps, and opened pages of a step."""
MAX_PROBLEMS = 3


class FormStep(Frozen, extra="ignore"):
    """A step of the search."""

    query: ForeignText = ""
    opened: tuple[ForeignText, ...] = Field(default=(), max_length=MAX_ITEMS)
    parent: Annotated[int, Field(ge=0, strict=True)] | None = None
    """Index of the earlier step that led to this one."""


class ReportForm(Frozen, extra="ignore"):
    """A report and what is known about it."""

    report: ForeignText = ""
    sources: tuple[ReportSource, ...] = Field(default=(), max_length=MAX_ITEMS)
    trace: tuple[FormStep, ...] = Field(default=(), max_length=MAX_ITEMS)
    usage: AgentUsage = AgentUsage()
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] | None = None
    model_version: ForeignText | None = None
    question: StrictBool = False
    error: ForeignText | None = None


def assignment_payload(request: JobRequest) -> dict[str, Any]:
    """Return the request as the JSON object that a program or service receives."""
    return {
        "job": request.job,
        "edition": request.edition,
        "assignment": request.assignment,
        "title": request.title,
        "kind": request.kind,
        "query": request.query,
        "prompt": request.prompt,
        "banned": list(request.banned),
        "conversation": [message.model_dump() for message in request.history],
    }


def parse_report_form(given: Any) -> JobAnswer:
    """Parse the report form that a program or service returned.

    given: the parsed JSON.

    Raises:
        UnreadableJobAnswer: it does not match the form; the message names the fields.
    """
    try:
        form = ReportForm.model_validate(drop_nulls(given))
    except ValidationError as error:
        raise UnreadableJobAnswer(
            f"the answer does not match the expected form: {_describe_problems(error)}"
        ) from None
    for index, step in enumerate(form.trace):
        if step.parent is not None and step.parent >= index:
            raise UnreadableJobAnswer(
                f"the answer does not match the expected form: trace.{index}.parent: {step.parent} "
                "is not the index of an earlier step"
            )
    problem = form.error
    if problem is None and not form.report.strip():
        problem = "the answer holds neither a report nor an error"
    return JobAnswer(
        outcome="failed" if problem is not None else "question" if form.question else "report",
        text=form.report,
        sources=form.sources,
        trace=tuple(SearchStep(**step.model_dump()) for step in form.trace),
        model_version=form.model_version,
        usage=form.usage,
        cost_usd=form.cost_usd,
        error=problem,
    )


def drop_nulls(given: Any) -> Any:
    """Drop the fields of an object that are null: they count as missing."""
    if not isinstance(given, dict):
        return given
    return {name: value for name, value in given.items() if value is not None}


def _describe_problems(error: ValidationError) -> str:
    """List the first problems with their fields, without repeating the values."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [
        f"{'.'.join(str(part)[:60] for part in problem['loc']) or 'answer'}: {problem['msg']}"
        for problem in problems[:MAX_PROBLEMS]
    ]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
