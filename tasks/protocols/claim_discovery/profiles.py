"""The published scoring of LiveDRBench's categories: the judge's decisions and the figures.

It complements the recursive scoring of `matching`, with the same judge. The published code
asks about one prediction at a time; here one call asks about a whole list, or all values of a row.
What is matched is the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks.extraction.claim_layouts import TruthValue, get_row_value
from tasks.judges.decisions import Judge, JudgeAnswer
from tasks.judges.questions.grade_values import GradeValues, NamedValue
from tasks.metrics.claim_trees import (
    ClaimScores,
    GradedRow,
    match_one_to_one,
    multiply_scores,
    score_classes,
    score_graded_rows,
    score_lists,
)
from tasks.protocols.case import ItemAnswer, gather_answers, name_answers
from tasks.protocols.claim_discovery.matching import (
    SAME_WORDS,
    ComparedClaim,
    MatchQuestion,
    build_compared_claim,
    find_partners,
    format_undecided,
    match_level,
    normalise_value,
)
from tasks.protocols.claim_discovery.questions import AnsweredQuestion
from tasks.protocols.figures import VerdictLabels
from tasks.warehouse.rows import OPEN_STATUSES, Status

COMPAT_MATCH, COMPAT_GRADE = "compat_match", "compat_grade"
ABSENT = "the answer does not have it; no model was asked"
NOTE_BY_CATEGORY = {
    "entities": "Names of people may come in another order or without their middle names.",
}
"""What the published matcher of a category tolerates in addition."""


@dataclass
class MatchLevel:
    """One list of claims to match with another, in a single call."""

    prefix: str
    """Prefix of the items' names."""
    truths: list[ComparedClaim]
    answered: list[ComparedClaim]

    @property
    def items(self) -> list[str]:
        """The items' names, one for each answered claim."""
        return [f"{self.prefix}{index}" for index in range(len(self.answered))]


@dataclass
class ProfileFigures:
    """Precision, recall and F1 of one answer, or why there are none yet."""

    figures: ClaimScores | None = None
    n_open: int = 0
    reason: str | None = None


async def decide_profile(posed: AnsweredQuestion, judge: Judge) -> list[ItemAnswer]:
    """Make every decision that the category's published scoring needs."""
    text, note = posed.question.text, posed.question.note
    allowed = NOTE_BY_CATEGORY.get(posed.category, "")
    noted = MatchQuestion(text, " ".join(filter(None, (note, allowed))))
    decided: list[ItemAnswer] = []
    for level in _build_levels(posed):
        answers = await match_level(judge, noted, level.truths, level.answered)
        decided += name_answers(COMPAT_MATCH, level.items, answers)
    if not _is_graded(posed) or any(d.answer.status is not Status.OK for d in decided):
        return decided
    verdicts = {(d.step, d.item): (str(d.answer.status), d.answer.label) for d in decided}
    return decided + await gather_answers(
        _grade_row(f"{group}.{row}", true, posed.rows[group][row], noted, judge, posed)
        for (group, row), true in _pair_rows(posed, verdicts).items()
    )


def compute_profile_figures(posed: AnsweredQuestion, verdicts: VerdictLabels) -> ProfileFigures:
    """Compute the published figures; null, with the reason, while a decision is missing."""
    found = ProfileFigures()
    levels = _build_levels(posed)
    for level in levels:
        _note_missing(found, COMPAT_MATCH, level.items, verdicts)
    if posed.category.startswith("scifacts-"):
        result = _score_classes(levels, verdicts)
    elif not _is_graded(posed):
        result = _score_lists(levels, verdicts)
    else:
        result = None if found.reason else _score_graded(posed, verdicts, found)
    if found.reason is None:
        found.figures = result
    return found


def _is_graded(posed: AnsweredQuestion) -> bool:
    return posed.category.startswith("novel-datasets-") or posed.category == "flights"


def _build_levels(posed: AnsweredQuestion) -> list[MatchLevel]:
    """Return the lists to match: one per key in scifacts, else one per item of the truth."""
    if posed.category.startswith("scifacts-"):
        has_material = any("material" in row for item in posed.truth_items for row in item.rows)
        keys = ["material", "paper_title"] if has_material else ["paper_title"]
        return [_build_class_level(posed, key) for key in keys]
    return [
        _build_row_level(posed, index)
        for index, item in enumerate(posed.truth_items)
        if not (_is_graded(posed) and item.form == "dict")
    ]


def _build_class_level(posed: AnsweredQuestion, key: str) -> MatchLevel:
    true = [row.get(key, TruthValue("")) for item in posed.truth_items for row in item.rows]
    answered = [get_row_value(row, key) for rows in posed.rows for row in rows]
    return MatchLevel(
        f"{key}:",
        [build_compared_claim("", value.text, value.also) for value in true],
        [build_compared_claim("", value) for value in answered],
    )


def _build_row_level(posed: AnsweredQuestion, index: int) -> MatchLevel:
    """Build the level of one item's rows, identified by their primary keys."""
    item = posed.truth_items[index]
    keys = [k for k in posed.primary_keys if any(k in row for row in item.rows)]
    keys = keys or list(posed.form.row_keys)
    true = ({k: row.get(k, row.get("", TruthValue(""))) for k in keys} for row in item.rows)
    answered = ({k: TruthValue(get_row_value(row, k)) for k in keys} for row in posed.rows[index])

    def build(rows: Iterable[Mapping[str, TruthValue]]) -> list[ComparedClaim]:
        return [_build_identity(row, only=len(keys) == 1) for row in rows]

    return MatchLevel(f"{index}.", build(true), build(answered))


def _build_identity(values: Mapping[str, TruthValue], *, only: bool) -> ComparedClaim:
    if only:
        [value] = values.values()
        return build_compared_claim("", value.text, value.also)
    present = {key: value.text for key, value in values.items() if normalise_value(value.text)}
    text = "; ".join(f"{key}: {value}" for key, value in present.items())
    words = normalise_value(text)
    return ComparedClaim(text, frozenset({words}) if words else frozenset())


async def _grade_row(
    prefix: str,
    true: Mapping[str, TruthValue],
    answered: Mapping[str, str],
    question: MatchQuestion,
    judge: Judge,
    posed: AnsweredQuestion,
) -> list[ItemAnswer]:
    """Grade each key of one true row; missing or equal values need no judge."""
    wanted = {key: true[key] for key in posed.graded_keys(true)}
    answers = {key: _grade_without_judge(value, answered.get(key)) for key, value in wanted.items()}
    undecided = [key for key, answer in answers.items() if answer is None]
    if undecided:
        values = tuple(
            NamedValue(name=key, truth=wanted[key].text, answered=answered[key])
            for key in undecided
        )
        request = GradeValues(question=question.text, values=values, note=question.note)
        answers |= dict(zip(undecided, await judge.decide(request), strict=True))
    given = {f"{prefix} {key}": answer for key, answer in answers.items() if answer is not None}
    return name_answers(COMPAT_GRADE, given, given.values())


def _grade_without_judge(true: TruthValue, answered: str | None) -> JudgeAnswer | None:
    if answered is None or not normalise_value(answered):
        return JudgeAnswer(status=Status.OK, label="0", reason=ABSENT)
    if normalise_value(answered) in {normalise_value(text) for text in (true.text, *true.also)}:
        return JudgeAnswer(status=Status.OK, label="3", reason=SAME_WORDS)
    return None


def _pair_rows(
    posed: AnsweredQuestion, verdicts: VerdictLabels
) -> dict[tuple[int, int], Mapping[str, TruthValue]]:
    """Return (item of the truth, answered row) → the true row to grade it against."""
    found: dict[tuple[int, int], Mapping[str, TruthValue]] = {}
    for index, item in enumerate(posed.truth_items):
        if item.form == "dict":
            if posed.rows[index]:
                found[index, 0] = item.rows[0]
            continue
        level = _build_row_level(posed, index)
        for row, true in match_one_to_one(_build_edges(level, verdicts)).items():
            found[index, row] = item.rows[true]
    return found


def _build_edges(level: MatchLevel, verdicts: VerdictLabels) -> list[tuple[int, ...]]:
    return [
        find_partners(claim, level.truths, verdicts.get((COMPAT_MATCH, item), ("", None))[1])
        for item, claim in zip(level.items, level.answered, strict=True)
    ]


def _score_classes(levels: Sequence[MatchLevel], verdicts: VerdictLabels) -> ClaimScores | None:
    scores = [
        score_classes(_build_edges(level, verdicts), sum(bool(t.values) for t in level.truths))
        for level in levels
    ]
    return multiply_scores(*scores) if len(scores) == 2 else scores[0]


def _score_lists(levels: Sequence[MatchLevel], verdicts: VerdictLabels) -> ClaimScores | None:
    return score_lists(
        sum(len(match_one_to_one(_build_edges(level, verdicts))) for level in levels),
        sum(len(level.answered) for level in levels),
        sum(len(level.truths) for level in levels),
    )


def _score_graded(
    posed: AnsweredQuestion, verdicts: VerdictLabels, found: ProfileFigures
) -> ClaimScores | None:
    pairs = _pair_rows(posed, verdicts)
    rows = []
    for group, answered in enumerate(posed.rows):
        for index, row in enumerate(answered):
            wanted = posed.graded_keys(pairs.get((group, index), ()))
            items = {key: f"{group}.{index} {key}" for key in wanted}
            _note_missing(found, COMPAT_GRADE, items.values(), verdicts)
            grades = {
                key: int(label)
                for key, item in items.items()
                if (label := verdicts.get((COMPAT_GRADE, item), ("", None))[1])
            }
            gates_all = posed.truth_items[group].form == "dict"
            rows.append(GradedRow(frozenset(row), grades, gates_all))
    for group, item in enumerate(posed.truth_items):
        if item.form == "dict" and not posed.rows[group]:
            # An answer without the dict has its main claim wrong too.
            missing = {key: 0 for key in posed.main_claims if key in item.rows[0]}
            rows.append(GradedRow(frozenset(), missing, gates_all=True))
    true_keys = [row.keys() for item in posed.truth_items for row in item.rows]
    return score_graded_rows(rows, true_keys, posed.main_claims, posed.form.ignored)


def _note_missing(
    found: ProfileFigures, step: str, items: Iterable[str], verdicts: VerdictLabels
) -> None:
    for item in items:
        status, _ = verdicts.get((step, item), (Status.JUDGE_ERROR, None))
        if status != Status.OK:
            found.n_open += status in OPEN_STATUSES
            found.reason = found.reason or format_undecided(status)
