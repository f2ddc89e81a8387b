"""Making a sheet: which questions, in which order, which text first. The seed decides it all.

Everything drawn is drawn by hash, not by a random generator: the same seed over the same
candidates gives the same sheet in every process and version, and candidates that come or go
leave the others where they were.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from tasks.warehouse.labels import AnnotationItem
from tasks.warehouse.rows import content_sha

FIRST, SECOND, TIE = "first", "second", "tie"
"""What people say of two texts; what stands behind them comes back at the import."""


@dataclass(frozen=True)
class Form:
    """What a person is told: the same for every sheet of a kind."""

    kind: str
    protocol: str
    """Whose verdicts the labels are compared with."""
    title: str
    instructions: str
    labels: Mapping[str, str]
    """The answers one may give, each with what it means."""
    texts_in_csv: bool
    """Whether the texts are short enough to stand in the CSV beside each question."""


@dataclass(frozen=True)
class Text:
    """Something to read, in Markdown."""

    heading: str
    text: str
    note: str = ""
    """What the reader must know about it, e.g. that it was cut."""


@dataclass(frozen=True)
class Decision:
    """One verdict's place: what a question asks a person to decide as well."""

    step: str
    item: str
    content: str
    """What it is about beside the subject's texts: a criterion, a statement."""


@dataclass(frozen=True)
class Shown:
    """A subject's texts in the order of its sides, and one question per decision."""

    texts: tuple[Text, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """What can be put before a person: a text or two, and the decisions about them."""

    assignment: str
    agent: str
    """Whose verdicts; empty where two agents are compared."""
    decisions: tuple[Decision, ...]
    texts_sha: str
    """Of its texts as the warehouse holds them."""
    show: Callable[[], Shown]
    """Called for subjects that are drawn: reading their texts is what costs."""
    sides: tuple[str, str] | None = None
    """What stands behind the first and the second text, unblinded."""

    @property
    def agents(self) -> frozenset[str]:
        return frozenset({self.agent} if self.agent else self.sides or ())

    @property
    def key(self) -> tuple[str, ...]:
        first = self.decisions[0]
        return (self.assignment, self.agent, first.step, first.item)

    def content_sha(self, decision: Decision) -> str:
        """Of all that a label for this decision speaks about."""
        return content_sha(self.texts_sha, decision.content)


@dataclass(frozen=True)
class Panel:
    """One subject on the sheet: its texts once, and the questions about them."""

    number: int
    """1-based."""
    texts: tuple[Text, ...]
    items: tuple[AnnotationItem, ...]


@dataclass(frozen=True)
class Sheet:
    """Questions for people, and (in the items) what they hide."""

    name: str
    form: Form
    panels: tuple[Panel, ...]

    @property
    def items(self) -> list[AnnotationItem]:
        """In the order in which they are asked."""
        return [item for panel in self.panels for item in panel.items]


def make_sheet(
    form: Form, edition: str, subjects: Sequence[Subject], size: int, seed: int
) -> Sheet:
    """A blinded sheet over `size` subjects, or over all where there are fewer."""
    drawn = draw(subjects, size, seed)
    contents = [s.content_sha(d) for s in drawn for d in s.decisions]
    keys = [part for subject in drawn for part in subject.key]
    name = f"{form.kind}-{content_sha(edition, str(seed), *keys, *contents)[:8]}"
    panels: list[Panel] = []
    asked_before = 0
    for number, subject in enumerate(drawn, start=1):
        panel = _panel(name, form, edition, subject, number, asked_before, seed)
        asked_before += len(panel.items)
        panels.append(panel)
    return Sheet(name, form, tuple(panels))


def draw(subjects: Iterable[Subject], size: int, seed: int) -> list[Subject]:
    """At most `size` subjects in random order, spread evenly over agents and steps."""
    groups: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for subject in sorted(subjects, key=lambda s: _lot(seed, *s.key)):
        groups[subject.agent, *(subject.sides or ()), subject.decisions[0].step].append(subject)
    in_turn = [
        subject
        for turn in zip_longest(
            *(groups[key] for key in sorted(groups, key=lambda k: _lot(seed, *k)))
        )
        for subject in turn
        if subject is not None
    ]
    return sorted(in_turn[:size], key=lambda s: _lot(seed, "place", *s.key))


def _panel(
    sheet: str,
    form: Form,
    edition: str,
    subject: Subject,
    number: int,
    asked_before: int,
    seed: int,
) -> Panel:
    shown = subject.show()
    swapped = subject.sides is not None and int(_lot(seed, "side", *subject.key), 16) % 2 == 1
    sides = subject.sides or ("", "")
    left, right = reversed(sides) if swapped else sides
    questions = sorted(
        zip(subject.decisions, shown.asked, strict=True),
        key=lambda question: _lot(seed, *subject.key, question[0].step, question[0].item),
    )
    items = tuple(
        AnnotationItem(
            sheet=sheet,
            # A letter first: spreadsheets take 12e45678 for a number.
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
    return Panel(number, _in_order(shown.texts, swapped) if subject.sides else shown.texts, items)


def _in_order(texts: tuple[Text, ...], swapped: bool) -> tuple[Text, ...]:
    """Two texts in the order drawn, named by their place and by nothing else."""
    ordered = texts[::-1] if swapped else texts
    return tuple(
        replace(text, heading=heading)
        for heading, text in zip(("First text", "Second text"), ordered, strict=True)
    )


def _lot(seed: int, *parts: str) -> str:
    return content_sha(str(seed), *parts)
