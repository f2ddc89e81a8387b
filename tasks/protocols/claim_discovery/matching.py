"""Match answered claims to true claims one to one, level by level.

Claims in the same words need no judge. The rest of a level goes to the judge in one call; then the
sub-claims of every pair are matched in the same way. The judge's answers are stored as they are;
scoring makes them one to one.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tasks.extraction.answers import AnsweredClaim
from tasks.extraction.claim_layouts import normalise_key
from tasks.judges.decisions import NO_TRUTH, Judge, JudgeAnswer, truth_label
from tasks.judges.questions.match_claims import MatchClaims
from tasks.metrics.claim_trees import ClaimNode, ClaimPath, match_one_to_one
from tasks.protocols.case import ItemAnswer, gather_answers, name_answers
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.truths import TruthClaim

MATCH = "match"
MATCH_CLAIMS = "claim_discovery/match_claims"
SAME_WORDS = "the same words; no model was asked"
NO_KNOWN_TRUTH = "nothing is known to be true here; no model was asked"
NO_VALUE = "it has no value; no model was asked"


@dataclass(frozen=True)
class ComparedClaim:
    """A claim as it is compared: its text for the judge, and its values."""

    text: str
    values: frozenset[str]
    """Normalised values; for a true claim all accepted ones."""
    name: str = ""


@dataclass(frozen=True)
class MatchQuestion:
    """The question, as every call about one answer states it."""

    text: str
    note: str = ""


@dataclass
class ClaimMatching:
    """Pairs of answered and true claims, and what is still undecided."""

    pairs: dict[ClaimPath, ClaimPath] = field(default_factory=dict)
    n_open: int = 0
    """Open claims."""
    reason: str | None = None
    """Why some claims have no decision; null if all have one."""


def format_undecided(status: str) -> str:
    """Return why a figure over a partly decided tree of claims is null."""
    return f"{status}: not every claim has been decided"


def normalise_value(text: str) -> str:
    """Normalise a value for comparison: NFC, case folded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def build_compared_claim(name: str, value: str, also: Sequence[str] = ()) -> ComparedClaim:
    """Build a claim for comparison; without a value its text is empty."""
    values = frozenset(filter(None, map(normalise_value, (value, *also))))
    others = f" (also accepted: {'; '.join(also)})" if also else ""
    text = f"{value}{others}" if values else ""
    return ComparedClaim(f"{name}: {text}" if name and text else text, values, normalise_key(name))


def has_same_value(answered: ComparedClaim, truth: ComparedClaim) -> bool:
    """Whether the claims share a value, ignoring case and spaces. Their names must be equal only if
    both have one."""
    named = not answered.name or not truth.name or answered.name == truth.name
    return named and bool(answered.values & truth.values)


async def match_level(
    judge: Judge,
    question: MatchQuestion,
    truths: Sequence[ComparedClaim],
    answered: Sequence[ComparedClaim],
    prompt: str = MATCH_CLAIMS,
) -> list[JudgeAnswer]:
    """Return one answer per answered claim: `truth:<index>` or `none`."""
    answers: list[JudgeAnswer | None] = [_match_without_judge(claim, truths) for claim in answered]
    undecided = [index for index, answer in enumerate(answers) if answer is None]
    if undecided:
        found = await judge.decide(
            MatchClaims(
                question=question.text,
                truths=tuple(truth.text for truth in truths),
                answered=tuple(answered[index].text for index in undecided),
                note=question.note,
                prompt=prompt,
            )
        )
        for index, answer in zip(undecided, found, strict=True):
            answers[index] = answer
    return [answer for answer in answers if answer is not None]


def _match_without_judge(
    claim: ComparedClaim, truths: Sequence[ComparedClaim]
) -> JudgeAnswer | None:
    if not claim.values:
        return JudgeAnswer(status=Status.OK, label=NO_TRUTH, reason=NO_VALUE)
    if not truths:
        return JudgeAnswer(status=Status.OK, label=NO_TRUTH, reason=NO_KNOWN_TRUTH)
    for index, truth in enumerate(truths):
        if has_same_value(claim, truth):
            return JudgeAnswer(status=Status.OK, label=truth_label(index), reason=SAME_WORDS)
    return None


def find_partners(
    claim: ComparedClaim, truths: Sequence[ComparedClaim], label: str | None
) -> tuple[int, ...]:
    """Return the indices of the true claims that a claim states, in the same words or as the judge
    decided."""
    found = [index for index, truth in enumerate(truths) if has_same_value(claim, truth)]
    decided = label.rpartition(":")[2].rpartition(".")[2] if label and label != NO_TRUTH else ""
    if decided and int(decided) not in found and int(decided) < len(truths):
        found.append(int(decided))
    return tuple(found)


async def match_trees(
    judge: Judge,
    question: MatchQuestion,
    answered: Sequence[AnsweredClaim],
    truths: Sequence[TruthClaim],
    at: ClaimPath = (),
    truth_at: ClaimPath = (),
) -> list[ItemAnswer]:
    """Match all levels of an answer's claims; nothing is asked below an undecided level."""
    if not answered or not truths:
        return []
    of_answer, of_truth = _build_compared_claims(answered, truths)
    found = await match_level(judge, question, of_truth, of_answer)
    items = (_format_path((*at, index)) for index in range(len(answered)))
    decided = name_answers(MATCH, items, (_with_full_path(answer, truth_at) for answer in found))
    if any(item.answer.status is not Status.OK for item in decided):
        return decided
    pairs = _pair_claims(answered, truths, [item.answer.label for item in decided])
    return decided + await gather_answers(
        match_trees(
            judge,
            question,
            answered[claim].sub_claims,
            truths[truth].sub_claims,
            (*at, claim),
            (*truth_at, truth),
        )
        for claim, truth in sorted(pairs.items())
    )


def resolve_matching(
    answered: Sequence[AnsweredClaim],
    truths: Sequence[TruthClaim],
    verdicts: Mapping[str, tuple[str, str | None]],
) -> ClaimMatching:
    """Pair claims according to the verdicts.

    Args:
        verdicts: Verdicts of the step MATCH, item → status, label.
    """
    found = ClaimMatching()
    _match_below(found, answered, truths, verdicts, (), ())
    return found


def _match_below(
    found: ClaimMatching,
    answered: Sequence[AnsweredClaim],
    truths: Sequence[TruthClaim],
    verdicts: Mapping[str, tuple[str, str | None]],
    at: ClaimPath,
    truth_at: ClaimPath,
) -> None:
    if not answered or not truths:
        return
    missing = (Status.JUDGE_ERROR, None)
    level = [verdicts.get(_format_path((*at, index)), missing) for index in range(len(answered))]
    undecided = [status for status, _ in level if status != Status.OK]
    found.n_open += sum(status in OPEN_STATUSES for status in undecided)
    if undecided:
        found.reason = found.reason or format_undecided(undecided[0])
        return
    for claim, truth in _pair_claims(answered, truths, [label for _, label in level]).items():
        path, truth_path = (*at, claim), (*truth_at, truth)
        found.pairs[path] = truth_path
        _match_below(
            found, answered[claim].sub_claims, truths[truth].sub_claims, verdicts, path, truth_path
        )


def _pair_claims(
    answered: Sequence[AnsweredClaim], truths: Sequence[TruthClaim], labels: Sequence[str | None]
) -> dict[int, int]:
    """Pair claims one to one. If several claims state the same truth, the first in sorted order
    gets it, so that the order of an answer does not matter."""
    of_answer, of_truth = _build_compared_claims(answered, truths)
    edges = [
        sorted(
            find_partners(claim, of_truth, label),
            key=lambda index: (-_count_shared(answered[at], truths[index]), index),
        )
        for at, (claim, label) in enumerate(zip(of_answer, labels, strict=True))
    ]
    order = sorted(range(len(answered)), key=lambda index: answered[index].model_dump_json())
    return match_one_to_one(edges, order)


def _count_shared(claim: AnsweredClaim, truth: TruthClaim) -> int:
    """Count the sub-claims that both share, to tell rows with the same name apart."""
    below, known = _build_compared_claims(claim.sub_claims, truth.sub_claims)
    return sum(any(has_same_value(claim_below, true) for true in known) for claim_below in below)


def _build_compared_claims(
    answered: Sequence[AnsweredClaim], truths: Sequence[TruthClaim]
) -> tuple[list[ComparedClaim], list[ComparedClaim]]:
    return (
        [build_compared_claim(claim.name, claim.value) for claim in answered],
        [build_compared_claim(truth.name, truth.value, truth.also) for truth in truths],
    )


def build_nodes(claims: Sequence[AnsweredClaim]) -> tuple[ClaimNode, ...]:
    """Build the nodes of an answer for scoring; every claim weighs 1."""
    return tuple(ClaimNode(1.0, build_nodes(claim.sub_claims)) for claim in claims)


def build_truth_nodes(truths: Sequence[TruthClaim]) -> tuple[ClaimNode, ...]:
    """Build the nodes of the truth for scoring."""
    return tuple(ClaimNode(truth.weight, build_truth_nodes(truth.sub_claims)) for truth in truths)


def _with_full_path(answer: JudgeAnswer, truth_at: ClaimPath) -> JudgeAnswer:
    """Replace the truth's index in the label by its whole path."""
    if answer.label in (None, NO_TRUTH):
        return answer
    index = int(str(answer.label).rpartition(":")[2])
    return answer.model_copy(update={"label": truth_label(_format_path((*truth_at, index)))})


def _format_path(path: ClaimPath) -> str:
    return ".".join(map(str, path))
