"""What became of a claim, in one word: the rule of the view `cited_claims`, claim by claim."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tasks.judges.decisions import CONFLICT, NOT_SUPPORT, SUPPORT
from tasks.judges.research import FULL, NONE, PARTIAL, SUPPORTED, UNSUPPORTED
from tasks.warehouse.explained import Decision, ExplainedCitation, ReportScore
from tasks.warehouse.rows import OPEN_STATUSES, Status

CITATION = "citation"
MARKING = ("wiki_fact", "research_gym", "fact")
"""Protocols that decide about claims and their pages; the first that a judge has begun with
marks the claims."""
WHOLE_CLAIMS = "research_gym"
"""The one that decides about a claim with all its pages together."""
WORDS = {
    SUPPORT: "supported",
    CONFLICT: "conflicting",
    NOT_SUPPORT: "not_supported",
    FULL: "supported",
    PARTIAL: "partly_supported",
    NONE: "not_supported",
    SUPPORTED: "supported",
    UNSUPPORTED: "not_supported",
}
"""A decided label in the words of the outcomes; labels of any other kind are `not_assessed`."""
_BEST_FIRST = ("supported", "partly_supported", "conflicting", "not_supported", "not_assessed")
_BEGUN = {"done", "pending", "failed"}


class Marking(NamedTuple):
    """Which protocol's decisions mark the claims of a report, for one judge."""

    protocol: str
    state: str
    """Of the report under it, as in `scores`."""


def markings(scores: Iterable[ReportScore]) -> dict[str, Marking]:
    """By judge, what marks the claims of a report with these scores."""
    states: dict[str, dict[str, str]] = {}
    for score in scores:
        if score.protocol in MARKING:
            states.setdefault(score.judge, {})[score.protocol] = score.state
    return {judge: _marking(of_judge) for judge, of_judge in sorted(states.items())}


def _marking(states: dict[str, str]) -> Marking:
    known = [name for name in MARKING if name in states]
    begun = [name for name in known if states[name] in _BEGUN]
    protocol = (begun or known)[0]
    return Marking(protocol, states[protocol])


def outcome(
    marking: Marking,
    judge: str,
    citations: Sequence[ExplainedCitation],
    decisions: Sequence[Decision],
    *,
    reliable: bool,
) -> str:
    """One of OUTCOMES for one claim and judge.

    Any support is support, else any conflict is conflict (Wiki Live Challenge, citation
    verification); a claim without a decided page says why it has none.

    Args:
        citations: the claim's, with the decisions about each.
        decisions: about the claim with all its pages together.
        reliable: whether it is known which pages the report's claims cite.
    """
    if not reliable:
        return "untrusted"
    if not citations:
        return "uncited"
    if marking.state == "not_assessed":
        return "not_assessed"
    own = [
        d for d in decisions
        if (d.judge, d.protocol, d.step) == (judge, marking.protocol, CITATION)
    ]  # fmt: skip
    said: Sequence[Decision | None] = own or [
        _said(marking, judge, citation) for citation in citations
    ]
    if all(decision is None for decision in said):
        if marking.state != "done":
            return "open"
        if marking.protocol == WHOLE_CLAIMS:  # the judge decides other steps of it
            return "not_assessed"
    return _resolved(said)


def _said(marking: Marking, judge: str, citation: ExplainedCitation) -> Decision | None:
    """What was decided of a pair; FACT's doubles are decided under another claim's number."""
    found = [d for d in citation.decisions if (d.judge, d.protocol) == (judge, marking.protocol)]
    return next((d for d in found if d.step == CITATION), found[0] if found else None)


def _resolved(said: Sequence[Decision | None]) -> str:
    decided = {
        WORDS.get(d.label or "", "not_assessed") for d in said if d and d.status == Status.OK
    }
    for word in _BEST_FIRST:
        if word in decided:
            return word
    if any(d is not None and d.status in OPEN_STATUSES for d in said):
        return "open"
    if any(d is None or (d.status == Status.SKIPPED and d.step == CITATION) for d in said):
        return "never_fetched"
    if any(d is not None and d.status != Status.UNFETCHABLE for d in said):
        return "not_assessed"
    return "unreachable"
