"""What an agent's answer becomes in the warehouse."""

from typing import Any, Literal

from tasks.agents.agent import Answer
from tasks.agents.citations.citing import report_markdown
from tasks.benchmarks.reports import report_status
from tasks.configuration.agents import Ask, load_agents
from tasks.pending.reports import Unreported
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Agent, Report, content_sha
from tasks.warehouse.traces import TRACE, SearchTrace
from tasks.warehouse.writer import Change

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
