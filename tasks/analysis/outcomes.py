"""The outcome of a claim, in one word, by the rule of the view `cited_claims`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tasks.judges.decisions import (
    CONFLICT,
    FULL,
    NONE,
    NOT_SUPPORT,
    PARTIAL,
    SUPPORT,
    SUPPORTED,
    UNSUPPORTED,
)
from tasks.protocols.registry import list_claim_marking
from tasks.warehouse.explanations import ExplainedCitation, ExplainedVerdict, ReportScore
from tasks.warehouse.rows import OPEN_STATUSES, Status

CITATION = "citation"
OUTCOME_OF_LABEL = {
    SUPPORT: "supported",
    CONFLICT: "conflicting",
    NOT_SUPPORT: "not_supported",
    FULL: "supported",
    PARTIAL: "partly_supported",
    NONE: "not_supported",
    SUPPORTED: "supported",
    UNSUPPORTED: "not_supported",
}
"""The outcome of each label; any other label is `not_assessed`."""
_BEST_FIRST = ("supported", "partly_supported", "conflicting", "not_supported", "not_assessed")
_STARTED_STATES = {"done", "pending", "failed"}


class ClaimMarking(NamedTuple):
    """The protocol whose verdicts mark the claims of a report, for one judge: the first that judges
    claims and their pages and that the judge has started."""

    protocol: str
    state: str
    """The report's state under the protocol, as in `scores`."""


def find_markings(scores: Iterable[ReportScore]) -> dict[str, ClaimMarking]:
    """Map each judge to what marks the claims of a report with these scores."""
    states: dict[str, dict[str, str]] = {}
    for score in scores:
        if score.protocol in list_claim_marking():
            states.setdefault(score.judge, {})[score.protocol] = score.state
    markings: dict[str, ClaimMarking] = {}
    for judge, of_judge in sorted(states.items()):
        known = [name for name in list_claim_marking() if name in of_judge]
        begun = [name for name in known if of_judge[name] in _STARTED_STATES]
        protocol = (begun or known)[0]
        markings[judge] = ClaimMarking(protocol, of_judge[protocol])
    return markings


def determine_outcome(
    marking: ClaimMarking,
    judge: str,
    citations: Sequence[ExplainedCitation],
    decisions: Sequence[ExplainedVerdict],
    *,
    reliable: bool,
) -> str:
    """Return the outcome of one claim by one judge.

    Any support is support, else any conflict is conflict (Wiki Live Challenge, citation
    verification); a claim without a judged page gets the reason.

    Args:
        citations: the claim's citations, with the verdicts about each.
        decisions: the verdicts about the claim with all its pages together.
        reliable: whether it is known which pages the report's claims cite.
    """
    if not reliable:
        return "untrusted"
    if not citations:
        return "uncited"
    if marking.state == "not_assessed":
        return "not_assessed"
    own = [
        d for d in decisions if (d.judge, d.protocol, d.step) == (judge, marking.protocol, CITATION)
    ]
    verdicts: Sequence[ExplainedVerdict | None] = own or [
        _find_verdict(marking, judge, citation) for citation in citations
    ]
    if all(decision is None for decision in verdicts):
        if marking.state != "done":
            return "open"
        if (
            list_claim_marking()[marking.protocol] == "whole"
        ):  # the judge takes only its other steps
            return "not_assessed"
    return _resolve_outcome(verdicts)


def _find_verdict(
    marking: ClaimMarking, judge: str, citation: ExplainedCitation
) -> ExplainedVerdict | None:
    """Return the verdict on a pair; FACT stores duplicates under another claim's number."""
    found = [d for d in citation.decisions if (d.judge, d.protocol) == (judge, marking.protocol)]
    return next((d for d in found if d.step == CITATION), found[0] if found else None)


def _resolve_outcome(verdicts: Sequence[ExplainedVerdict | None]) -> str:
    decided = {
        OUTCOME_OF_LABEL.get(d.label or "", "not_assessed")
        for d in verdicts
        if d and d.status == Status.OK
    }
    for word in _BEST_FIRST:
        if word in decided:
            return word
    if any(d is not None and d.status in OPEN_STATUSES for d in verdicts):
        return "open"
    if any(d is None or (d.status == Status.SKIPPED and d.step == CITATION) for d in verdicts):
        return "never_fetched"
    if any(d is not None and d.status != Status.UNFETCHABLE for d in verdicts):
        return "not_assessed"
    return "unreachable"
