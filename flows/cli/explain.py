"""`evergreen explain`: one report down to the sentence, as its page on the site shows it."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Annotated, TypeVar

import typer

from flows.cli.options import Printed, WarehouseAt
from flows.display.console import remark
from flows.display.explanation import print_explained
from tasks.analysis.explanation import (
    Decision,
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    explained,
    find_report,
)
from tasks.editions.names import UnknownName, check_known
from tasks.judges.registry import judge as judge_named
from tasks.protocols.registry import named
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading
from tasks.warehouse.rows import OPEN_STATUSES

Numbered = TypeVar("Numbered", ExplainedClaim, ExplainedFact)
OPEN_OUTCOMES = {"open", "never_fetched"}
"""Of claims that a later run may decide: `fetch`, then `evaluate`."""
OPEN_STATES = {"pending", "failed"}
_ACT_UNSEEN = re.compile("[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def explain(
    report: Annotated[
        str, typer.Option("--report", help="AGENT/ASSIGNMENT, AGENT/TITLE, or the report's id.")
    ],
    edition: Annotated[
        str | None, typer.Option("--edition", help="Of this edition; of any if not given.")
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="Only what this one said; may be given again."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Only what was decided under this one; again for more."),
    ] = None,
    claim: Annotated[
        int | None, typer.Option("--claim", help="One claim whole, by its number.")
    ] = None,
    fact: Annotated[
        int | None, typer.Option("--fact", help="One fact whole, by its number.")
    ] = None,
    only_open: Annotated[
        bool, typer.Option("--open", help="Only what a later run may still decide.")
    ] = False,
    form: Printed = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """What a report's figures rest on: each claim and fact with its verdict, evidence and page."""
    judges = [judge_named(name).name for name in judge or ()]
    protocols = [named(name) for name in protocol or ()]
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        if edition:
            check_known(source, edition)
        key = find_report(source, edition, report)
        (found,) = explained(source, *key[:2], [key[2]], judges, protocols)
    if protocols and not found.scores:
        raise UnknownName(
            f"{report} has no figures of {', '.join(protocols)}. Without --protocol all are shown."
        )
    found = _narrowed(found, claim, fact)
    if only_open:
        found = _still_open(found)
        if not (found.scores or found.claims or found.facts or found.others):
            remark("Nothing of it is open.")
    if form == "json":
        print(as_json(found))
    else:
        print_explained(found, whole=claim is not None or fact is not None, brief=not protocols)


def as_json(report: ExplainedReport) -> str:
    """The whole object. What would act on a terminal unseen is escaped, as JSON allows."""
    text = json.dumps(asdict(report), ensure_ascii=False, default=str, indent=1)
    return _ACT_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _narrowed(report: ExplainedReport, claim: int | None, fact: int | None) -> ExplainedReport:
    """Only the claim and the fact of these numbers, where one is given."""
    if claim is None and fact is None:
        return report
    return replace(
        report,
        claims=_numbered(report.claims, claim, "claim"),
        facts=_numbered(report.facts, fact, "fact"),
        others=(),
    )


def _numbered(of: Sequence[Numbered], number: int | None, name: str) -> tuple[Numbered, ...]:
    found = tuple(each for each in of if each.number == number)
    if number is None or found:
        return found
    known = f"its {name}s are {of[0].number} to {of[-1].number}" if of else f"it has no {name}s"
    raise UnknownName(f"The report has no {name} {number}; {known}.")


def _still_open(report: ExplainedReport) -> ExplainedReport:
    waiting = any(score.state in OPEN_STATES for score in report.scores)
    undecided: Callable[[Sequence[Decision]], bool] = lambda said: any(  # noqa: E731
        decision.status in OPEN_STATUSES for decision in said
    )
    return replace(
        report,
        scores=tuple(s for s in report.scores if s.n_open or s.state in OPEN_STATES),
        claims=tuple(
            c for c in report.claims
            if OPEN_OUTCOMES & {*c.outcomes.values()} or undecided(c.conflicts)
        ),
        facts=tuple(
            f for f in report.facts if undecided(f.decisions) or (waiting and not f.decisions)
        ),
        others=tuple(d for d in report.others if undecided([d])),
    )  # fmt: skip
