"""Sheets: which questions, in which order, which text first, all determined by the seed.

Draws use hashes, not a random generator: the same seed and candidates give the same sheet in every
process and version, and added or removed candidates do not move the others.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from tasks.warehouse.labels import AnnotationItem
from tasks.warehouse.rows import content_sha

FIRST, SECOND, TIE = "first", "second", "tie"
"""The labels for two texts; the import translates them to the hidden sides."""


@dataclass(frozen=True)
class SheetForm:
    """The instructions and labels of all sheets of a kind."""

    kind: str
    protocol: str
    """The protocol whose verdicts the labels are compared with."""
    title: str
    instructions: str
    labels: Mapping[str, str]
    """The possible labels, each with its meaning."""
    texts_in_csv: bool
    """Whether the texts are short enough for the CSV that a page downloads."""
    verdict_labels: tuple[str, ...] = ()
    """The labels of the judges' verdicts; empty if judges do not answer this question."""
    steps: tuple[str, ...] = ()
    """Steps of the protocol; empty for all."""


@dataclass(frozen=True)
class SheetText:
    """A text to read, in Markdown."""

    heading: str
    text: str
    note: str = ""
    """A note for the reader, e.g. that the text was cut."""


@dataclass(frozen=True)
class SheetDecision:
    """The step and item of the verdict that a question corresponds to."""

    step: str
    item: str
    content: str
    """What it is about apart from the subject's texts: a criterion or a statement."""


@dataclass(frozen=True)
class SubjectTexts:
    """A subject's texts in the order of its sides, and one question per decision."""

    texts: tuple[SheetText, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class SheetSubject:
    """One or two texts, and the decisions to make about them."""

    assignment: str
    agent: str
    """The agent that verdicts are about; empty if two agents are compared."""
    decisions: tuple[SheetDecision, ...]
    texts_sha: str
    """The hash of its texts in the warehouse."""
    load_texts: Callable[[], SubjectTexts]
    """Loads the texts, which is slow; called only for drawn subjects."""
    sides: tuple[str, str] | None = None
    """The unblinded names of the first and the second text."""

    @property
    def agents(self) -> frozenset[str]:
        return frozenset({self.agent} if self.agent else self.sides or ())

    @property
    def key(self) -> tuple[str, ...]:
        first = self.decisions[0]
        return (self.assignment, self.agent, first.step, first.item)

    def content_sha(self, decision: SheetDecision) -> str:
        """Hash everything that a label for this decision is about."""
        return content_sha(self.texts_sha, decision.content)


@dataclass(frozen=True)
class Panel:
    """A subject on the sheet: its texts and the questions about them."""

    number: int
    """Number on the sheet, from 1."""
    texts: tuple[SheetText, ...]
    items: tuple[AnnotationItem, ...]


@dataclass(frozen=True)
class Sheet:
    """A blinded sheet; its items hold the hidden names."""

    name: str
    form: SheetForm
    panels: tuple[Panel, ...]

    @property
    def items(self) -> list[AnnotationItem]:
        """The items in the order of the questions."""
        return [item for panel in self.panels for item in panel.items]


def make_sheet(
    form: SheetForm, edition: str, subjects: Sequence[SheetSubject], size: int, seed: int
) -> Sheet:
    """Make a blinded sheet of `size` subjects, or of all if there are fewer."""
    drawn = draw_subjects(subjects, size, seed)
    contents = [s.content_sha(d) for s in drawn for d in s.decisions]
    keys = [part for subject in drawn for part in subject.key]
    name = f"{form.kind}-{content_sha(edition, str(seed), *keys, *contents)[:8]}"
    panels: list[Panel] = []
    asked_before = 0
    for number, subject in enumerate(drawn, start=1):
        panel = _make_panel(name, form, edition, subject, number, asked_before, seed)
        asked_before += len(panel.items)
        panels.append(panel)
    return Sheet(name, form, tuple(panels))


def draw_subjects(subjects: Iterable[SheetSubject], size: int, seed: int) -> list[SheetSubject]:
    """Draw at most `size` subjects in random order, spread evenly over agents and steps."""
    groups: dict[tuple[str, ...], list[SheetSubject]] = defaultdict(list)
    for subject in sorted(subjects, key=lambda s: _hash_lot(seed, *s.key)):
        groups[subject.agent, *(subject.sides or ()), subject.decisions[0].step].append(subject)
    in_turn = [
        subject
        for turn in zip_longest(
            *(groups[key] for key in sorted(groups, key=lambda k: _hash_lot(seed, *k)))
        )
        for subject in turn
        if subject is not None
    ]
    return sorted(in_turn[:size], key=lambda s: _hash_lot(seed, "place", *s.key))


def _make_panel(
    sheet: str,
    form: SheetForm,
    edition: str,
    subject: SheetSubject,
    number: int,
    asked_before: int,
    seed: int,
) -> Panel:
    content = subject.load_texts()
    swapped = subject.sides is not None and int(_hash_lot(seed, "side", *subject.key), 16) % 2 == 1
    sides = subject.sides or ("", "")
    left, right = reversed(sides) if swapped else sides
    questions = sorted(
        zip(subject.decisions, content.questions, strict=True),
        key=lambda question: _hash_lot(seed, *subject.key, question[0].step, question[0].item),
    )
    items = tuple(
        AnnotationItem(
            sheet=sheet,
            # Starts with a letter: spreadsheets read 12e45678 as a number.
            item_id="q" + content_sha(sheet, *subject.key, decision.step, decision.item)[:12],
            number=asked_before + place,
            edition=edition,
            kind=form.kind,
            protocol=form.protocol,
            step=decision.step,
            agent=subject.agent,
            assignment=subject.assignment,
            item=decision.item,
            left_side=left,
            right_side=right,
            asked=asked,
            content_sha=subject.content_sha(decision),
            seed=seed,
        )
        for place, (decision, asked) in enumerate(questions, start=1)
    )
    return Panel(
        number, _order_texts(content.texts, swapped) if subject.sides else content.texts, items
    )


def _order_texts(texts: tuple[SheetText, ...], swapped: bool) -> tuple[SheetText, ...]:
    """Return two texts in the drawn order, named only by their position."""
    ordered = texts[::-1] if swapped else texts
    return tuple(
        replace(text, heading=heading)
        for heading, text in zip(("First text", "Second text"), ordered, strict=True)
    )


def _hash_lot(seed: int, *parts: str) -> str:
    return content_sha(str(seed), *parts)
