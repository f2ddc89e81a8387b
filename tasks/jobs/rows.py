"""The rows of a job: before it is sent, and what its answer becomes."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import uuid4

from tasks.agents.agent import Answer, Question, Turn
from tasks.agents.citations.citing import report_markdown
from tasks.agents.kinds import read_answer
from tasks.benchmarks.reports import report_status
from tasks.configuration.agents import Ask, load_agents
from tasks.pending.reports import Unreported
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Agent, Report, content_sha
from tasks.warehouse.traces import TRACE, SearchTrace
from tasks.warehouse.writer import Change


def intention(item: Unreported, kind: str, reply: str | None = None) -> Job:
    """A job that has not been sent: with the assignment's prompt, or as a second turn the reply to
    the agent's question."""
    return Job(
        job=f"evergreen-{uuid4().hex[:16]}",
        edition=item.edition,
        agent=item.agent,
        assignment=item.assignment,
        attempt=item.attempt,
        turn=1 if reply is None else 2,
        kind=kind,
        parameters="{}",  # said when it is sent
        prompt=item.prompt if reply is None else reply,
        prompt_sha=item.prompt_sha if reply is None else content_sha(reply),
        state="refused",  # until the request is about to leave: nothing has been bought
    )


def question_of(item: Unreported, job: Job, earlier: Sequence[Job]) -> Question:
    """What an agent is asked.

    earlier: the jobs of the turns before, with their answers.
    """
    turns: list[Turn] = []
    for before in earlier:
        said = read_answer(before.kind, before.answer or "").text
        turns += [Turn(role="user", text=before.prompt), Turn(role="agent", text=said)]
    return Question(
        job=job.job,
        edition=item.edition,
        assignment=item.assignment,
        title=item.title,
        kind=item.kind,
        query=item.query,
        prompt=job.prompt,
        banned=item.banned,
        earlier=tuple(turns),
        earlier_id=earlier[-1].remote_id if earlier else None,
    )


MILLION = 1_000_000


def asks_back(kind: str, answer: Answer) -> bool:
    """Whether an answer is a question instead of a report."""
    if answer.outcome == "question":
        return True
    # Claims in JSON hold braces; a question in prose does not.
    prose = kind == "write_article" or "{" not in answer.text
    return prose and report_status(answer.text) == "clarification"


def cost_of(answer: Answer, ask: Ask) -> tuple[float | None, Literal["interface", "prices"] | None]:
    """What an answer cost in USD and who says so; None where nobody knows."""
    if answer.cost_usd is not None:
        return answer.cost_usd, "interface"
    used, price = answer.usage, ask.price
    if price is None or price.tokens is None:
        return None, None
    if used.input_tokens is None or used.output_tokens is None:
        return None, None
    if price.usd_per_thousand_searches and used.searches is None:
        return None, None  # a part of it would be no cost
    rates = price.tokens
    cached = min(used.cached_tokens or 0, used.input_tokens)
    dollars = (
        (used.input_tokens - cached) * rates.input
        + cached * (rates.input if rates.cached_input is None else rates.cached_input)
        + used.output_tokens * rates.output
        + (used.reasoning_tokens or 0)
        * (rates.output if rates.reasoning is None else rates.reasoning)
        + (used.citation_tokens or 0) * rates.citation
    ) / MILLION
    return dollars + (used.searches or 0) / 1000 * price.usd_per_thousand_searches, "prices"


def facts_of(answer: Answer, ask: Ask) -> dict[str, Any]:
    """The fields of a job that its answer fills."""
    cost, said_by = cost_of(answer, ask)
    return {
        **answer.usage.model_dump(),
        "reasoning_steps": answer.n_reasoning_steps,
        "model_version": answer.model_version,
        "cost_usd": cost,
        "cost_source": said_by,
    }


def report_rows(item: Unreported, job: Job, answer: Answer, citations: Any) -> list[Change]:
    """The report, the search behind it where the answer tells, and the agent if it is new here."""
    key = {"edition": item.edition, "agent": item.agent, "assignment": item.assignment}
    text = report_markdown(answer, kind=item.kind, citations=citations)
    asks = asks_back(item.kind, answer)
    report = Report(
        **key,
        text=text,
        text_sha=content_sha(text),
        status="clarification" if asks else "ok",
        source_path=f"job {job.job}",
    )
    shown = load_agents().agents.get(item.agent)
    agent = Agent(edition=item.edition, agent=item.agent, name=shown.name if shown else item.agent)
    changes = [Change(Agent, [agent], only_new=True), Change(Report, [report])]
    if answer.trace:
        trace = TRACE.dump_json(answer.trace).decode()
        row = SearchTrace(**key, trace=trace, trace_sha=content_sha(trace), source="agent")
        changes.append(Change(SearchTrace, [row]))
    return changes
