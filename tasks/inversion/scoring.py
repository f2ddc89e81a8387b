"""F1 of a probe's answers against the ground truth.

The same value after normalisation needs no call; what is left is matched by the judge, one call
for each level. Any failure of the judge leaves the figure undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.inversion.naming import same_words
from tasks.judges.decisions import NO_TRUTH, Answer, MatchClaims, truth_label
from tasks.judges.inversion import FoundAnswer, Matcher, Said
from tasks.metrics.claim_trees import Node, Path, one_to_one, tree_figures
from tasks.warehouse.rows import Status
from tasks.warehouse.truths import TruthClaim

NOTE = "The answers were given without sources, or from a single page."


@dataclass(frozen=True)
class Figure:
    """How well a probe answered."""

    f1: float
    """0-1, recursive over claims and sub-claims."""
    n_main: int
    """Main claims it states."""


@dataclass(frozen=True)
class _Given:
    """A claim as it was answered."""

    value: str
    name: str = ""


class _Undecided(Exception):
    """The judge gave no usable answer; holds what it said."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


async def scored(
    question: str, truths: Sequence[TruthClaim], found: Sequence[FoundAnswer], matcher: Matcher
) -> tuple[Said[Figure], tuple[str, ...]]:
    """The figure of one probe, or why there is none; and the calls that it rests on."""
    calls: list[str] = []
    try:
        matched = await _matched(question, truths, found, matcher, calls)
    except _Undecided as undecided:
        answer = undecided.answer
        return Said(answer.status, reason=answer.reason), tuple(calls)
    answered = tuple(Node(children=tuple(Node() for _ in given.sub_claims)) for given in found)
    figures = tree_figures(answered, tuple(map(_node, truths)), matched)
    if figures is None:
        return Said(Status.NOT_ASSESSED, reason="nothing is known to be true"), tuple(calls)
    n_main = sum(len(path) == 1 for path in matched)
    return Said(Status.OK, Figure(figures.f1, n_main)), tuple(calls)


async def _matched(
    question: str,
    truths: Sequence[TruthClaim],
    found: Sequence[FoundAnswer],
    matcher: Matcher,
    calls: list[str],
) -> dict[Path, Path]:
    """Answered paths → true paths, one to one, a pair below a pair."""
    given = [_Given(answer.value) for answer in found]
    matched: dict[Path, Path] = {}
    pairs = await _level(question, truths, given, matcher, calls)
    for answered, true in pairs.items():
        matched[answered,] = (true,)
        below = [_Given(value, name) for name, value in found[answered].sub_claims]
        subs = await _level(question, truths[true].sub_claims, below, matcher, calls)
        matched |= {(answered, claim): (true, truth) for claim, truth in subs.items()}
    return matched


async def _level(
    question: str,
    truths: Sequence[TruthClaim],
    given: Sequence[_Given],
    matcher: Matcher,
    calls: list[str],
) -> dict[int, int]:
    """Indices of answered claims → those of the true claims they state."""
    edges = [[i for i, truth in enumerate(truths) if _same(claim, truth)] for claim in given]
    taken = set(one_to_one(edges).values())
    open_truths = [i for i in range(len(truths)) if i not in taken]
    asked = [i for i, found in enumerate(edges) if not found]
    if asked and open_truths:
        request = MatchClaims(
            question=question,
            truths=tuple(_shown_truth(truths[i]) for i in open_truths),
            answered=tuple(_shown(given[i].name, given[i].value) for i in asked),
            note=NOTE,
        )
        labels = {truth_label(place): truth for place, truth in enumerate(open_truths)}
        for index, answer in zip(asked, await matcher.decide(request), strict=True):
            if answer.call_id and answer.call_id not in calls:
                calls.append(answer.call_id)
            if answer.status is not Status.OK:
                raise _Undecided(answer)
            if answer.label in labels:
                edges[index] = [labels[answer.label]]
            elif answer.label != NO_TRUTH:
                raise _Undecided(
                    Answer(
                        status=Status.UNPARSABLE,
                        reason=f"match_claims: expected {NO_TRUTH} or one of "
                        f"{', '.join(labels)}; got {answer.label!r}",
                    )
                )
    return one_to_one(edges)


def _same(claim: _Given, truth: TruthClaim) -> bool:
    if truth.name and not same_words(claim.name, truth.name):
        return False
    return any(same_words(claim.value, value) for value in (truth.value, *truth.also))


def _shown(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def _shown_truth(truth: TruthClaim) -> str:
    also = f" (also accepted: {'; '.join(truth.also)})" if truth.also else ""
    return _shown(truth.name, truth.value) + also


def _node(truth: TruthClaim) -> Node:
    return Node(weight=truth.weight, children=tuple(map(_node, truth.sub_claims)))
