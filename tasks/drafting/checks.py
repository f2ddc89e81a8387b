"""What can be checked of drafted rubrics and keywords without a model; what they are worth."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks.benchmarks.rigorous import QUERY_POINTS
from tasks.configuration.drafting import DraftingSettings
from tasks.inversion.naming import same_words
from tasks.judges.drafting import DraftedRubric
from tasks.judges.text import entities, numbers, terms
from tasks.metrics.drift import comparable, frequency

BEGINS = "Does the report"
MOST_CHARS = 800
"""Of a rubric, however few words it has."""


@dataclass(frozen=True)
class Subject:
    """What is drafted from: an article, by its title, text and facts."""

    title: str
    text: str
    facts: tuple[str, ...]

    def grounds(self, rubric: DraftedRubric) -> tuple[str, ...]:
        """The facts that a rubric rests on; those that are not there are left out."""
        return tuple(self.facts[n - 1] for n in rubric.facts if 0 < n <= len(self.facts))


def rubric_problem(
    rubric: DraftedRubric, known: Iterable[str], subject: Subject, settings: DraftingSettings
) -> str | None:
    """What is wrong with a rubric, if anything is: it must be one question about the report, rest
    on facts that are there, and name no number and no name that they do not."""
    n_words = len(rubric.text.split())
    if not rubric.text.startswith(BEGINS):
        return f"it does not begin with {BEGINS!r}"
    if not settings.rubric_words.least <= n_words <= settings.rubric_words.most:
        return f"it has {n_words} words"
    if len(rubric.text) > MOST_CHARS:
        return f"it has {len(rubric.text):,} characters"
    if any(same_words(rubric.text, other) for other in known):
        return "it stands there twice"
    grounds = subject.grounds(rubric)
    if not grounds or len(grounds) != len(rubric.facts):
        return "it rests on facts that are not there"
    told = " ".join((subject.title, *grounds))
    for what, read in (("numbers", numbers), ("names", entities)):
        if unknown := sorted(read(rubric.text) - read(told) - {*terms(told)}):
            return f"its facts do not hold its {what}: {', '.join(unknown[:5])}"
    return None


def keyword_problem(
    keyword: str, known: Sequence[str], subject: Subject, settings: DraftingSettings, *, focus: bool
) -> str | None:
    """What is wrong with a keyword, if anything is.

    A focus keyword stands in the article, a deviation keyword does not; neither is taken from the
    query, which is the title here.
    """
    if not 1 <= len(keyword.split()) <= settings.keyword_words:
        return f"it has more than {settings.keyword_words} words"
    if not terms(keyword):
        return "it stands in every text"
    if {*terms(keyword)} <= {*terms(subject.title)}:
        return "it is taken from the title"
    if any({*terms(keyword)} == {*terms(other)} for other in known):
        return "it stands there twice"
    there = frequency(keyword, comparable(subject.text)) > 0
    if focus and not there:
        return "the article does not speak of it"
    if there and not focus:
        return "the article speaks of it"
    return None


def worth(rubrics: Sequence[DraftedRubric], most_points: int) -> tuple[DraftedRubric, ...]:
    """The rubrics, the most important first, with points that are 30 together, as near to those
    they were drafted with as can be; fewer only where even `most_points` each do not suffice."""
    kept = list(rubrics)
    while len(kept) > 1 and _total(kept[:-1]) >= QUERY_POINTS:
        kept.pop()
    points = [rubric.points for rubric in kept]
    for place in reversed(range(len(points))):
        least = 2 if kept[place].ternary else 1
        points[place] -= min(max(sum(points) - QUERY_POINTS, 0), points[place] - least)
    while sum(points) < QUERY_POINTS and min(points, default=most_points) < most_points:
        for place, value in enumerate(points):
            if value < most_points and sum(points) < QUERY_POINTS:
                points[place] += 1
    return tuple(
        rubric.model_copy(update={"points": value})
        for rubric, value in zip(kept, points, strict=True)
    )


def _total(rubrics: Sequence[DraftedRubric]) -> int:
    return sum(rubric.points for rubric in rubrics)
