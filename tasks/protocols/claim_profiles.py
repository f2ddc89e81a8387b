"""The published scoring of each category of LiveDRBench: what it asks a judge, and its figures.

Beside the recursive scoring of `claim_matching`, and with the same judge. Where the published
code asks about one prediction after the other, one call here asks about all of a list, or about
all values of a row; what is matched stays the same.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tasks.extraction.answers import AgentAnswer
from tasks.extraction.claim_forms import (
    Form,
    TruthItem,
    Value,
    answered_rows,
    row_value,
)
from tasks.judges.decisions import Answer, GradeValues, Judge, NamedValue
from tasks.metrics.claim_profiles import (
    GradedRow,
    class_figures,
    graded_figures,
    list_figures,
    product,
)
from tasks.metrics.claim_trees import Figures, one_to_one
from tasks.protocols.case import Decided
from tasks.protocols.claim_matching import (
    SAME_WORDS,
    Question,
    Statement,
    match_level,
    normalised,
    partners,
    statement,
    undecided_reason,
)
from tasks.warehouse.rows import OPEN_STATUSES, Status

COMPAT_MATCH, COMPAT_GRADE = "compat_match", "compat_grade"
ABSENT = "the answer does not have it; no model was asked"
NOTE_OF = {
    "entities": "Names of people may come in another order or without their middle names.",
}
"""What the published matcher of a category allows beyond the usual."""

Verdicts = Mapping[tuple[str, str], tuple[str, str | None]]
"""(step, item) → status, label."""


@dataclass(frozen=True)
class Marked:
    """One question with its answer, in the published form."""

    category: str
    form: Form
    truth: tuple[TruthItem, ...]
    answer: AgentAnswer
    primary_keys: tuple[str, ...]
    main_claims: tuple[str, ...]

    def graded_keys(self, row: Iterable[str]) -> list[str]:
        """Keys of a true row that a judge has to look at."""
        ignored = self.form.ignored - set(self.main_claims)
        return [key for key in row if key not in ignored]

    @cached_property
    def rows(self) -> tuple[tuple[dict[str, str], ...], ...]:
        return answered_rows(self.answer, self.form)


@dataclass
class Level:
    """One list against another: what a single call of the judge decides."""

    prefix: str
    """Of its items' names."""
    truths: list[Statement]
    answered: list[Statement]


@dataclass
class ProfileFigures:
    """The published figures of one answer, or what they still wait for."""

    figures: Figures | None = None
    n_open: int = 0
    reason: str | None = None


async def profile_decisions(marked: Marked, question: Question, judge: Judge) -> list[Decided]:
    """Every decision that the published scoring of this category rests on."""
    allowed = NOTE_OF.get(marked.category, "")
    noted = Question(question.text, " ".join(filter(None, (question.note, allowed))))
    decided: list[Decided] = []
    for level in _levels(marked):
        answers = await match_level(judge, noted, level.truths, level.answered)
        decided += [
            Decided(step=COMPAT_MATCH, item=f"{level.prefix}{index}", answer=answer)
            for index, answer in enumerate(answers)
        ]
    if not _is_graded(marked) or any(d.answer.status is not Status.OK for d in decided):
        return decided
    said = {(d.step, d.item): (str(d.answer.status), d.answer.label) for d in decided}
    graded = await asyncio.gather(
        *(
            _graded(f"{group}.{row}", true, marked.rows[group][row], noted, judge, marked)
            for (group, row), true in _partners(marked, said).items()
        )
    )
    return decided + [item for items in graded for item in items]


def profile_figures(marked: Marked, verdicts: Verdicts) -> ProfileFigures:
    """The published figures; null with the reason while a decision is missing."""
    found = ProfileFigures()
    if marked.category.startswith("scifacts-"):
        by_key = {key: _class_figures(marked, key, verdicts, found) for key in _class_keys(marked)}
        figures = list(by_key.values())
        result = product(figures[0], figures[1]) if len(figures) == 2 else figures[0]
    elif _is_graded(marked):
        result = _graded_figures(marked, verdicts, found)
    else:
        result = _list_figures(marked, verdicts, found)
    if found.reason is None:
        found.figures = result
    return found


def _is_graded(marked: Marked) -> bool:
    return marked.category.startswith("novel-datasets-") or marked.category == "flights"


def _class_keys(marked: Marked) -> list[str]:
    has_material = any("material" in row for item in marked.truth for row in item.rows)
    return ["material", "paper_title"] if has_material else ["paper_title"]


def _levels(marked: Marked) -> list[Level]:
    """The lists that are matched: per key in scifacts, else per item of the truth."""
    if marked.category.startswith("scifacts-"):
        return [_class_level(marked, key) for key in _class_keys(marked)]
    return [
        _row_level(marked, index)
        for index, item in enumerate(marked.truth)
        if not (_is_graded(marked) and item.form == "dict")
    ]


def _class_level(marked: Marked, key: str) -> Level:
    true = [row.get(key, Value("")) for item in marked.truth for row in item.rows]
    said = [row_value(row, key) for rows in marked.rows for row in rows]
    return Level(
        f"{key}:",
        [statement("", value.text, value.also) for value in true],
        [statement("", value) for value in said],
    )


def _row_level(marked: Marked, index: int) -> Level:
    """Rows by what tells them apart alone."""
    item = marked.truth[index]
    keys = [k for k in marked.primary_keys if any(k in row for row in item.rows)]
    keys = keys or list(marked.form.row_keys)
    only = len(keys) == 1
    truths = [_identity({k: row.get(k, row.get("", Value(""))) for k in keys}, only)
              for row in item.rows]  # fmt: skip
    answered = [_identity({k: Value(row_value(row, k)) for k in keys}, only)
                for row in marked.rows[index]]  # fmt: skip
    return Level(f"{index}.", truths, answered)


def _identity(values: Mapping[str, Value], only: bool) -> Statement:
    if only:
        [value] = values.values()
        return statement("", value.text, value.also)
    shown = {key: value.text for key, value in values.items() if normalised(value.text)}
    text = "; ".join(f"{key}: {value}" for key, value in shown.items())
    words = normalised(text)
    return Statement(text, frozenset({words}) if words else frozenset())


async def _graded(
    prefix: str,
    true: Mapping[str, Value],
    said: Mapping[str, str],
    question: Question,
    judge: Judge,
    marked: Marked,
) -> list[Decided]:
    """A grade per key of one true row; what is absent or in the same words needs no judge."""
    wanted = {key: true[key] for key in marked.graded_keys(true)}
    answers = {key: _without_judge(value, said.get(key)) for key, value in wanted.items()}
    asked = [key for key, answer in answers.items() if answer is None]
    if asked:
        values = tuple(
            NamedValue(name=key, truth=wanted[key].text, answered=said[key]) for key in asked
        )
        request = GradeValues(question=question.text, values=values, note=question.note)
        answers |= dict(zip(asked, await judge.decide(request), strict=True))
    return [
        Decided(step=COMPAT_GRADE, item=f"{prefix} {key}", answer=answer)
        for key, answer in answers.items()
        if answer is not None
    ]


def _without_judge(true: Value, said: str | None) -> Answer | None:
    if said is None or not normalised(said):
        return Answer(status=Status.OK, label="0", reason=ABSENT)
    if normalised(said) in {normalised(text) for text in (true.text, *true.also)}:
        return Answer(status=Status.OK, label="3", reason=SAME_WORDS)
    return None


def _partners(marked: Marked, verdicts: Verdicts) -> dict[tuple[int, int], Mapping[str, Value]]:
    """(item of the truth, answered row) → the true row it is graded against."""
    found: dict[tuple[int, int], Mapping[str, Value]] = {}
    for index, item in enumerate(marked.truth):
        if item.form == "dict":
            if marked.rows[index]:
                found[index, 0] = item.rows[0]
            continue
        level = _row_level(marked, index)
        for row, true in one_to_one(_edges(level, verdicts)).items():
            found[index, row] = item.rows[true]
    return found


def _edges(level: Level, verdicts: Verdicts) -> list[tuple[int, ...]]:
    return [
        partners(claim, level.truths, verdicts.get(_item(level, index), ("", None))[1])
        for index, claim in enumerate(level.answered)
    ]


def _item(level: Level, index: int) -> tuple[str, str]:
    return COMPAT_MATCH, f"{level.prefix}{index}"


def _class_figures(
    marked: Marked, key: str, verdicts: Verdicts, found: ProfileFigures
) -> Figures | None:
    level = _class_level(marked, key)
    _note_missing(found, [_item(level, i) for i in range(len(level.answered))], verdicts)
    n_truths = sum(bool(truth.values) for truth in level.truths)
    return class_figures(_edges(level, verdicts), n_truths)


def _list_figures(marked: Marked, verdicts: Verdicts, found: ProfileFigures) -> Figures | None:
    levels = _levels(marked)
    for level in levels:
        _note_missing(found, [_item(level, i) for i in range(len(level.answered))], verdicts)
    return list_figures(
        sum(len(one_to_one(_edges(level, verdicts))) for level in levels),
        sum(len(level.answered) for level in levels),
        sum(len(level.truths) for level in levels),
    )


def _graded_figures(marked: Marked, verdicts: Verdicts, found: ProfileFigures) -> Figures | None:
    for level in _levels(marked):
        _note_missing(found, [_item(level, i) for i in range(len(level.answered))], verdicts)
    if found.reason:
        return None
    pairs = _partners(marked, verdicts)
    rows = []
    for group, answered in enumerate(marked.rows):
        for index, row in enumerate(answered):
            wanted = marked.graded_keys(pairs.get((group, index), ()))
            items = {key: (COMPAT_GRADE, f"{group}.{index} {key}") for key in wanted}
            _note_missing(found, list(items.values()), verdicts)
            grades = {
                key: int(label)
                for key, item in items.items()
                if (label := verdicts.get(item, ("", None))[1])
            }
            gates_all = marked.truth[group].form == "dict"
            rows.append(GradedRow(frozenset(row), grades, gates_all))
    for group, item in enumerate(marked.truth):
        if item.form == "dict" and not marked.rows[group]:
            # Who leaves out the whole dict has not got its main claim right either.
            missing = {key: 0 for key in marked.main_claims if key in item.rows[0]}
            rows.append(GradedRow(frozenset(), missing, gates_all=True))
    true_keys = [row.keys() for item in marked.truth for row in item.rows]
    return graded_figures(rows, true_keys, marked.main_claims, marked.form.ignored)


def _note_missing(
    found: ProfileFigures, items: Sequence[tuple[str, str]], verdicts: Verdicts
) -> None:
    for item in items:
        status, _ = verdicts.get(item, (Status.JUDGE_ERROR, None))
        if status != Status.OK:
            found.n_open += status in OPEN_STATUSES
            found.reason = found.reason or undecided_reason(status)
