"""`evergreen explain`: one report with all its verdicts, as its page on the site shows it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Annotated, TypeVar

import typer

from flows.cli.options import (
    JudgesOption,
    ScoreProtocolsOption,
    TextOrJsonOption,
    WarehouseOption,
)
from flows.cli.warehouse import open_to_read
from flows.display.console import print_message
from flows.display.explanation import print_report
from flows.display.failed_claims import print_failed_claims, select_failed_claims
from flows.display.formats import format_json
from tasks.analysis.explanation import explain_reports
from tasks.editions.names import UnknownName, find_agent, find_report
from tasks.judges.registry import load_judge as judge_named
from tasks.protocols.registry import resolve_name
from tasks.warehouse.explanations import (
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ExplainedVerdict,
)
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.rows import OPEN_STATUSES

NumberedItem = TypeVar("NumberedItem", ExplainedClaim, ExplainedFact)
OPEN_OUTCOMES = {"open", "never_fetched"}
"""Outcomes of claims that a later `fetch` and `evaluate` may decide."""
OPEN_STATES = {"pending", "failed"}


def explain(
    report: Annotated[
        str,
        typer.Argument(
            metavar="AGENT/TITLE",
            help="Or AGENT/ASSIGNMENT, or the report's id; in quotes if it has spaces. AGENT "
            "alone: all claims of its reports that are not supported.",
        ),
    ],
    edition: Annotated[
        str | None, typer.Option(help="The report's edition; any if not given.")
    ] = None,
    judge: JudgesOption = None,
    protocol: ScoreProtocolsOption = None,
    claim: Annotated[
        int | None, typer.Option(help="Show one claim in full, by its number.")
    ] = None,
    fact: Annotated[int | None, typer.Option(help="Show one fact in full, by its number.")] = None,
    only_open: Annotated[
        bool, typer.Option("--open", help="Only items that a later run may still decide.")
    ] = False,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show what a report's scores rest on: each claim and fact with verdict, evidence and page."""
    judges = [judge_named(name).name for name in judge or ()]
    protocols = [resolve_name(name) for name in protocol or ()]
    with open_to_read(warehouse, edition) as source:
        if of := find_agent(source, edition, report):
            if claim is not None or fact is not None or only_open:
                raise typer.BadParameter("name one report: AGENT/TITLE.")
            reports = explain_reports(source, *of, None, judges, protocols)
            if form == "json":
                print(format_json([asdict(select_failed_claims(each)) for each in reports]))
            else:
                print_failed_claims([*reports])
            return
        key = find_report(source, edition, report)
        (found,) = explain_reports(source, *key[:2], [key[2]], judges, protocols)
    if protocols and not found.scores:
        raise UnknownName(
            f"{report} has no scores of {', '.join(protocols)}. Omit --protocol to show all."
        )
    found = _select_by_number(found, claim, fact)
    if only_open:
        found = _select_open(found)
        if not (found.scores or found.claims or found.facts or found.others):
            print_message("No item of the report is open.")
    if form == "json":
        print(format_json(asdict(found)))
    else:
        print_report(found, whole=claim is not None or fact is not None, brief=not protocols)


def _select_by_number(
    report: ExplainedReport, claim: int | None, fact: int | None
) -> ExplainedReport:
    """Return the report with only the given claim and fact, if any."""
    if claim is None and fact is None:
        return report
    return replace(
        report,
        claims=_find_numbered(report.claims, claim, "claim"),
        facts=_find_numbered(report.facts, fact, "fact"),
        others=(),
    )


def _find_numbered(
    of: Sequence[NumberedItem], number: int | None, name: str
) -> tuple[NumberedItem, ...]:
    found = tuple(each for each in of if each.number == number)
    if number is None or found:
        return found
    known = f"its {name}s are {of[0].number} to {of[-1].number}" if of else f"it has no {name}s"
    raise UnknownName(f"The report has no {name} {number}; {known}.")


def _select_open(report: ExplainedReport) -> ExplainedReport:
    waiting = any(score.state in OPEN_STATES for score in report.scores)
    undecided: Callable[[Sequence[ExplainedVerdict]], bool] = lambda decisions: any(  # noqa: E731
        decision.status in OPEN_STATUSES for decision in decisions
    )
    return replace(
        report,
        scores=tuple(s for s in report.scores if s.n_open or s.state in OPEN_STATES),
        claims=tuple(
            c
            for c in report.claims
            if OPEN_OUTCOMES & {*c.outcomes.values()} or undecided(c.conflicts)
        ),
        facts=tuple(
            f
            for f in report.facts
            if undecided((*f.decisions, *f.by_all_claims)) or (waiting and not f.decisions)
        ),
        others=tuple(d for d in report.others if undecided([d])),
    )
