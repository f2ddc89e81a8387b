"""Build the rows of a job before it is sent, and those of its answer; and say what became of it.

A report's text is made where a hostile answer holds up no other job.
"""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import uuid4

from tasks.agents.agent import ConversationMessage, JobAnswer, JobRequest, UnreadableJobAnswer
from tasks.agents.citations.markdown import Citations, render_report
from tasks.agents.kind import Ask
from tasks.agents.registry import find_agent_name, read_answer
from tasks.benchmarks.reports import report_status
from tasks.jobs.pending import PendingReport
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import TEXT_SECONDS, HelperProcesses
from tasks.warehouse.jobs import Job
from tasks.warehouse.replaced_reports import remove_judgement
from tasks.warehouse.rows import Agent, AssignmentKind, Report, content_sha
from tasks.warehouse.traces import SearchTrace, make_search_trace
from tasks.warehouse.writer import Change

MILLION = 1_000_000
SHORT_CHARS = 10_000
"""Any text up to this length takes less than the start of a helper: a tenth of a second."""


def make_job(item: PendingReport, kind: str, reply: str | None = None) -> Job:
    """Make a job that has not been sent: with the assignment's prompt or, as a second turn, with
    the reply to the agent's question."""
    return Job(
        job=f"evergreen-{uuid4().hex[:16]}",
        edition=item.edition,
        agent=item.agent,
        assignment=item.assignment,
        attempt=item.attempt,
        turn=1 if reply is None else 2,
        kind=kind,
        parameters="{}",  # filled when it is sent
        prompt=item.prompt if reply is None else reply,
        prompt_sha=item.prompt_sha if reply is None else content_sha(reply),
        state="refused",  # nothing has been bought yet
    )


def build_request(item: PendingReport, job: Job, earlier: Sequence[Job]) -> JobRequest:
    """Build the request to an agent.

    earlier: the jobs of the previous turns, with their answers.
    """
    turns: list[ConversationMessage] = []
    for job_before in earlier:
        text = read_answer(job_before.kind, job_before.answer or "").text
        turns += [
            ConversationMessage(role="user", text=job_before.prompt),
            ConversationMessage(role="agent", text=text),
        ]
    return JobRequest(
        **item.model_dump(include={"edition", "assignment", "title", "kind", "query", "banned"}),
        job=job.job,
        prompt=job.prompt,
        history=tuple(turns),
        previous_remote_id=earlier[-1].remote_id if earlier else None,
    )


def is_clarification(kind: str, answer: JobAnswer) -> bool:
    """Whether an answer asks back instead of delivering a report."""
    if answer.outcome == "question":
        return True
    # Claims in JSON hold braces; a question in prose does not.
    prose = kind == "write_article" or "{" not in answer.text
    return prose and report_status(answer.text) == "clarification"


def compute_cost(
    answer: JobAnswer, ask: Ask
) -> tuple[float | None, Literal["interface", "prices"] | None]:
    """Return an answer's cost in USD and where it comes from; None if unknown."""
    if answer.cost_usd is not None:
        return answer.cost_usd, "interface"
    used, price = answer.usage, ask.price
    if price is None or price.tokens is None:
        return None, None
    if used.input_tokens is None or used.output_tokens is None:
        return None, None
    if price.usd_per_thousand_searches and used.searches is None:
        return None, None  # a partial cost would mislead
    rates = price.tokens
    cached = min(used.cached_tokens or 0, used.input_tokens)
    written, for_hour = used.cache_write_tokens, used.cache_write_hour_tokens
    dollars = (
        rates.cost_input(used.input_tokens, cached, written, for_hour)
        + used.output_tokens * rates.output
        + (used.reasoning_tokens or 0)
        * (rates.output if rates.reasoning is None else rates.reasoning)
        + (used.citation_tokens or 0) * rates.citation
    ) / MILLION
    return dollars + (used.searches or 0) / 1000 * price.usd_per_thousand_searches, "prices"


def build_answer_fields(answer: JobAnswer, ask: Ask) -> dict[str, Any]:
    """Build the fields of a job that its answer fills."""
    cost, source = compute_cost(answer, ask)
    return {
        **answer.usage.model_dump(),
        "reasoning_steps": answer.n_reasoning_steps,
        "model_version": answer.model_version,
        "cost_usd": cost,
        "cost_source": source,
    }


def build_empty_report_changes(job: Job) -> list[Change]:
    """Build the rows of a missing report: the agent itself ended without one."""
    key = {"edition": job.edition, "agent": job.agent, "assignment": job.assignment}
    report = Report(
        **key, text="", text_sha=content_sha(""), status="empty", source_path=name_source(job)
    )
    return [Change(Agent, [_make_agent(job.edition, job.agent)], only_new=True),
            Change(Report, [report])]  # fmt: skip


def name_source(job: Job) -> str:
    """Return the `source_path` of a job's report."""
    return f"job {job.job}"


def _make_agent(edition: str, agent: str) -> Agent:
    return Agent(edition=edition, agent=agent, name=find_agent_name(agent))


def build_report_changes(
    item: PendingReport, job: Job, answer: JobAnswer, text: str
) -> list[Change]:
    """Build the rows of the report with this text, its search trace if there is one, and the agent
    if new."""
    key = {"edition": item.edition, "agent": item.agent, "assignment": item.assignment}
    asks = is_clarification(item.kind, answer)
    report = Report(
        **key,
        text=text,
        text_sha=content_sha(text),
        status="clarification" if asks else "ok",
        source_path=name_source(job),
    )
    agent = _make_agent(item.edition, item.agent)
    changes = [
        Change(Agent, [agent], only_new=True),
        Change(Report, [report]),
        *remove_judgement(report),
    ]
    if answer.trace:
        trace = make_search_trace(**key, steps=answer.trace, source="agent")
        changes.append(Change(SearchTrace, [trace]))
    return changes


def describe_lost(job: Job) -> str:
    """Describe a job whose request was sent but whose answer was lost."""
    return (
        "sent, but the answer was lost: it may have been paid for. Look for it at the "
        f"provider; then `evergreen agents jobs {job.job} --remote-id ID` if it is there, or "
        f"`evergreen agents jobs {job.job} --ask-again`."
    )


def describe_unreadable(job: Job) -> str:
    """Describe a job whose answers could not be read, whose request is therefore not repeated."""
    return (
        f"its answers cannot be read: {job.error}. It may have been paid for. Mend the agent, then "
        f"{suggest_ask_again(job)}"
    )


def describe_overdue(job: Job) -> str:
    """Describe a job that missed its deadline."""
    return (
        f"it has not ended in time (last status {job.remote_word!r}); every run checks it once "
        f"more; {suggest_ask_again(job)}"
    )


def suggest_ask_again(job: Job) -> str:
    """Say how to request a job again, unless it may be there by now."""
    if job.may_appear:
        return "the next run looks again, which buys nothing"
    return f"`evergreen agents jobs {job.job} --ask-again` requests it again"


def describe_leak(variables: Sequence[str]) -> str:
    """Describe a report that holds keys of ours."""
    return (
        f"its answer holds the value of {', '.join(variables)}, so it was set aside, with the keys "
        "taken out. Whoever wrote it could read them: replace them"
    )


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
        return render_report(answer, kind, citations)
    try:
        return await helpers.run(render_report, answer, kind, citations, seconds=TEXT_SECONDS)
    except (LimitExceeded, HelperFailed) as error:
        raise UnreadableJobAnswer(f"reading its citations {error}") from error
