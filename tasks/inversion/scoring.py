"""F1 of a probe's answers against the ground truth.

Values that are equal after normalisation need no call; the judge matches the rest, one call per
level. Any failure of the judge leaves the score undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.inversion.naming import are_same_words
from tasks.judges.decisions import (
    NO_TRUTH,
    JudgeAnswer,
    MatchClaims,
    StepAnswer,
    truth_label,
)
from tasks.judges.inversion import ClaimMatcher, FoundAnswer
from tasks.metrics.claim_trees import ClaimNode, ClaimPath, match_one_to_one, score_claim_trees
from tasks.warehouse.rows import Status
from tasks.warehouse.truths import TruthClaim

NOTE = "The answers were given without sources, or from a single page."


@dataclass(frozen=True)
class ProbeScore:
    """The score of a probe's answers."""

    f1: float
    """0-1, recursive over claims and sub-claims."""
    n_main: int
    """Main claims that the answers state."""


NamedValue = tuple[str, str]
"""An answered claim: its name, empty for a main claim, and its value."""


class _UndecidedMatch(Exception):
    """The judge gave no usable answer; `answer` is what it said."""

    def __init__(self, answer: JudgeAnswer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


async def score_probe(
    question: str, truths: Sequence[TruthClaim], found: Sequence[FoundAnswer], matcher: ClaimMatcher
) -> tuple[StepAnswer[ProbeScore], tuple[str, ...]]:
    """Score one probe; return the score, or why there is none, and the ids of its calls."""
    calls: list[str] = []
    try:
        matched = await _match_claims(question, truths, found, matcher, calls)
    except _UndecidedMatch as undecided:
        answer = undecided.answer
        return StepAnswer(answer.status, reason=answer.reason), tuple(calls)
    answered = tuple(
        ClaimNode(children=tuple(ClaimNode() for _ in given.sub_claims)) for given in found
    )
    figures = score_claim_trees(answered, tuple(map(_build_node, truths)), matched)
    if figures is None:
        return StepAnswer(Status.NOT_ASSESSED, reason="nothing is known to be true"), tuple(calls)
    n_main = sum(len(path) == 1 for path in matched)
    return StepAnswer(Status.OK, ProbeScore(figures.f1, n_main)), tuple(calls)


async def _match_claims(
    question: str,
    truths: Sequence[TruthClaim],
    found: Sequence[FoundAnswer],
    matcher: ClaimMatcher,
    calls: list[str],
) -> dict[ClaimPath, ClaimPath]:
    """Return answered paths → true paths, one to one; the parents of a pair are a pair."""
    matched: dict[ClaimPath, ClaimPath] = {}
    given = [("", answer.value) for answer in found]
    pairs = await _match_level(question, truths, given, matcher, calls)
    for answered, true in pairs.items():
        matched[answered,] = (true,)
        below, true_below = found[answered].sub_claims, truths[true].sub_claims
        subs = await _match_level(question, true_below, below, matcher, calls)
        matched |= {(answered, claim): (true, truth) for claim, truth in subs.items()}
    return matched


async def _match_level(
    question: str,
    truths: Sequence[TruthClaim],
    given: Sequence[NamedValue],
    matcher: ClaimMatcher,
    calls: list[str],
) -> dict[int, int]:
    """Return index of an answered claim → index of the true claim it states."""
    edges = [
        [i for i, truth in enumerate(truths) if _has_same_words(claim, truth)] for claim in given
    ]
    taken = set(match_one_to_one(edges).values())
    open_truths = [i for i in range(len(truths)) if i not in taken]
    unmatched = [i for i, found in enumerate(edges) if not found]
    if unmatched and open_truths:
        request = MatchClaims(
            question=question,
            truths=tuple(_format_truth(truths[i]) for i in open_truths),
            answered=tuple(_format_claim(*given[i]) for i in unmatched),
            note=NOTE,
        )
        labels = {truth_label(place): truth for place, truth in enumerate(open_truths)}
        for index, answer in zip(unmatched, await matcher.decide(request), strict=True):
            if answer.call_id and answer.call_id not in calls:
                calls.append(answer.call_id)
            if answer.status is not Status.OK:
                raise _UndecidedMatch(answer)
            if answer.label in labels:
                edges[index] = [labels[answer.label]]
            elif answer.label != NO_TRUTH:
                raise _UndecidedMatch(
                    JudgeAnswer(
                        status=Status.UNPARSABLE,
                        reason=f"match_claims: expected {NO_TRUTH} or one of "
                        f"{', '.join(labels)}; got {answer.label!r}",
                    )
                )
    return match_one_to_one(edges)


def _has_same_words(claim: NamedValue, truth: TruthClaim) -> bool:
    name, answered = claim
    if truth.name and not are_same_words(name, truth.name):
        return False
    return any(are_same_words(answered, value) for value in (truth.value, *truth.also))


def _format_claim(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def _format_truth(truth: TruthClaim) -> str:
    also = f" (also accepted: {'; '.join(truth.also)})" if truth.also else ""
    return _format_claim(truth.name, truth.value) + also


def _build_node(truth: TruthClaim) -> ClaimNode:
    return ClaimNode(weight=truth.weight, children=tuple(map(_build_node, truth.sub_claims)))
