"""A report's text from an agent's answer, made where a hostile answer holds up no other job."""

from typing import Literal

from tasks.agents.agent import JobAnswer, UnreadableJobAnswer
from tasks.agents.citations.markdown import render_report
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import TEXT_SECONDS, HelperProcesses
from tasks.warehouse.rows import AssignmentKind

Citations = Literal["annotations", "numbered", "as_written"]
SHORT_CHARS = 10_000
"""Any text up to this length takes less than the start of a helper: a tenth of a second."""


async def render_text(
    helpers: HelperProcesses,
    answer: JobAnswer,
    kind: AssignmentKind,
    citations: Citations | None,
) -> str:
    """Return `render_report`'s text, in a helper if it may take long.

    Raises:
        UnreadableJobAnswer: it takes too long, or cannot be made.
    """
    if len(answer.text) <= SHORT_CHARS:
        return _render(answer, kind, citations)
    try:
        return await helpers.run(_render, answer, kind, citations, seconds=TEXT_SECONDS)
    except (LimitExceeded, HelperFailed) as error:
        raise UnreadableJobAnswer(f"reading its citations {error}") from error


def _render(answer: JobAnswer, kind: AssignmentKind, citations: Citations | None) -> str:
    return render_report(answer, kind=kind, citations=citations)
