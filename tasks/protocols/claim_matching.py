"""Which answered claims state which true ones: level by level, one to one.

What says the same in the same words needs no judge. The rest of a level goes to the judge in
one call, and below every pair its sub-claims are matched in the same way. What the judge said
is kept as it is; that no true claim is stated twice is resolved from it when it is scored.
"""

import asyncio
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tasks.extraction.answers import AnsweredClaim
from tasks.extraction.claim_forms import key_name
from tasks.judges.decisions import NO_TRUTH, Answer, Judge, MatchClaims, truth_label
from tasks.metrics.claim_trees import Node, Path, one_to_one
from tasks.protocols.case import Decided
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.truths import TruthClaim

MATCH = "match"
MATCH_CLAIMS = "claim_discovery/match_claims"
SAME_WORDS = "the same words; no model was asked"
NOTHING_TO_STATE = "nothing is known to be true here; no model was asked"
NOTHING_SAID = "it has no value; no model was asked"


@dataclass(frozen=True)
class Statement:
    """A claim as it is matched: how a reader sees it, and what counts as the same words."""

    text: str
    values: frozenset[str]
    """Normalised; of a true claim every value that is accepted."""
    name: str = ""


@dataclass(frozen=True)
class Question:
    """What every call about one answer says of its question."""

    text: str
    note: str = ""


@dataclass
class Matching:
    """Pairs of an answer's tree with the truth's, and what stands in the way of more."""

    pairs: dict[Path, Path] = field(default_factory=dict)
    n_open: int = 0
    """Claims whose decision a later run may still bring."""
    reason: str | None = None
    """Why some claims have no decision; null where all have one."""


def undecided_reason(status: str) -> str:
    """Why a figure over a tree of claims is null: a part of the tree would be another figure."""
    return f"{status}: not every claim has been decided"


def normalised(text: str) -> str:
    """As values are compared: NFC, without case, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def statement(name: str, value: str, also: Sequence[str] = ()) -> Statement:
    """A claim to be matched; without a value it states nothing."""
    values = frozenset(filter(None, map(normalised, (value, *also))))
    others = f" (also accepted: {'; '.join(also)})" if also else ""
    text = f"{value}{others}" if values else ""
    return Statement(f"{name}: {text}" if name and text else text, values, key_name(name))


def same_words(answered: Statement, truth: Statement) -> bool:
    """Whether one says the same as the other but for case and space; a name that only one of
    them has tells them apart no more than it would a reader."""
    named = not answered.name or not truth.name or answered.name == truth.name
    return named and bool(answered.values & truth.values)


async def match_level(
    judge: Judge,
    question: Question,
    truths: Sequence[Statement],
    answered: Sequence[Statement],
    prompt: str = MATCH_CLAIMS,
) -> list[Answer]:
    """One answer per answered claim: `truth:<index>` or `none`."""
    answers: list[Answer | None] = [_without_judge(claim, truths) for claim in answered]
    asked = [index for index, answer in enumerate(answers) if answer is None]
    if asked:
        found = await judge.decide(
            MatchClaims(
                question=question.text,
                truths=tuple(truth.text for truth in truths),
                answered=tuple(answered[index].text for index in asked),
                note=question.note,
                prompt=prompt,
            )
        )
        for index, answer in zip(asked, found, strict=True):
            answers[index] = answer
    return [answer for answer in answers if answer is not None]


def _without_judge(claim: Statement, truths: Sequence[Statement]) -> Answer | None:
    if not claim.values:
        return Answer(status=Status.OK, label=NO_TRUTH, reason=NOTHING_SAID)
    if not truths:
        return Answer(status=Status.OK, label=NO_TRUTH, reason=NOTHING_TO_STATE)
    for index, truth in enumerate(truths):
        if same_words(claim, truth):
            return Answer(status=Status.OK, label=truth_label(index), reason=SAME_WORDS)
    return None


def partners(claim: Statement, truths: Sequence[Statement], label: str | None) -> tuple[int, ...]:
    """Indices of the true claims that one states: in the same words, and as the judge said."""
    found = [index for index, truth in enumerate(truths) if same_words(claim, truth)]
    said = label.rpartition(":")[2].rpartition(".")[2] if label and label != NO_TRUTH else ""
    if said and int(said) not in found and int(said) < len(truths):
        found.append(int(said))
    return tuple(found)


async def match_trees(
    judge: Judge,
    question: Question,
    answered: Sequence[AnsweredClaim],
    truths: Sequence[TruthClaim],
    at: Path = (),
    truth_at: Path = (),
) -> list[Decided]:
    """Every decision of an answer's claims; below a level that is not decided nothing is asked."""
    if not answered or not truths:
        return []
    of_answer, of_truth = _statements(answered, truths)
    found = await match_level(judge, question, of_truth, of_answer)
    decided = [
        Decided(step=MATCH, item=_text((*at, index)), answer=_placed(answer, truth_at))
        for index, answer in enumerate(found)
    ]
    if any(item.answer.status is not Status.OK for item in decided):
        return decided
    pairs = _pairs(answered, truths, [item.answer.label for item in decided])
    below = await asyncio.gather(
        *(
            match_trees(
                judge, question, answered[claim].sub_claims, truths[truth].sub_claims,
                (*at, claim), (*truth_at, truth),
            )
            for claim, truth in sorted(pairs.items())
        )
    )  # fmt: skip
    return decided + [item for items in below for item in items]


def matching(
    answered: Sequence[AnsweredClaim],
    truths: Sequence[TruthClaim],
    verdicts: Mapping[str, tuple[str, str | None]],
) -> Matching:
    """The pairs that the decisions make.

    Args:
        verdicts: of the step MATCH, item → status, label.
    """
    found = Matching()
    _match_below(found, answered, truths, verdicts, (), ())
    return found


def _match_below(
    found: Matching,
    answered: Sequence[AnsweredClaim],
    truths: Sequence[TruthClaim],
    verdicts: Mapping[str, tuple[str, str | None]],
    at: Path,
    truth_at: Path,
) -> None:
    if not answered or not truths:
        return
    missing = (Status.JUDGE_ERROR, None)
    said = [verdicts.get(_text((*at, index)), missing) for index in range(len(answered))]
    undecided = [status for status, _ in said if status != Status.OK]
    found.n_open += sum(status in OPEN_STATUSES for status in undecided)
    if undecided:
        found.reason = found.reason or undecided_reason(undecided[0])
        return
    for claim, truth in _pairs(answered, truths, [label for _, label in said]).items():
        path, truth_path = (*at, claim), (*truth_at, truth)
        found.pairs[path] = truth_path
        _match_below(
            found, answered[claim].sub_claims, truths[truth].sub_claims, verdicts, path, truth_path
        )


def _pairs(
    answered: Sequence[AnsweredClaim], truths: Sequence[TruthClaim], labels: Sequence[str | None]
) -> dict[int, int]:
    """One to one. Of several claims that state the same truth one keeps it, whichever stands
    first when they are sorted by what they say: the order of an answer changes nothing."""
    of_answer, of_truth = _statements(answered, truths)
    edges = [
        sorted(
            partners(claim, of_truth, label),
            key=lambda index: (-_shared(answered[at], truths[index]), index),
        )
        for at, (claim, label) in enumerate(zip(of_answer, labels, strict=True))
    ]
    order = sorted(range(len(answered)), key=lambda index: answered[index].model_dump_json())
    return one_to_one(edges, order)


def _shared(claim: AnsweredClaim, truth: TruthClaim) -> int:
    """How many sub-claims stand in the same words below both: tells rows with one name apart."""
    below, known = _statements(claim.sub_claims, truth.sub_claims)
    return sum(any(same_words(said, true) for true in known) for said in below)


def _statements(
    answered: Sequence[AnsweredClaim], truths: Sequence[TruthClaim]
) -> tuple[list[Statement], list[Statement]]:
    return (
        [statement(claim.name, claim.value) for claim in answered],
        [statement(truth.name, truth.value, truth.also) for truth in truths],
    )


def nodes(claims: Sequence[AnsweredClaim]) -> tuple[Node, ...]:
    """An answer as scoring looks at it: every claim weighs 1."""
    return tuple(Node(1.0, nodes(claim.sub_claims)) for claim in claims)


def truth_nodes(truths: Sequence[TruthClaim]) -> tuple[Node, ...]:
    """The truth as scoring looks at it."""
    return tuple(Node(truth.weight, truth_nodes(truth.sub_claims)) for truth in truths)


def _placed(answer: Answer, truth_at: Path) -> Answer:
    """The answer with the whole path of the truth it names."""
    if answer.label in (None, NO_TRUTH):
        return answer
    index = int(str(answer.label).rpartition(":")[2])
    return answer.model_copy(update={"label": truth_label(_text((*truth_at, index)))})


def _text(path: Path) -> str:
    return ".".join(map(str, path))
