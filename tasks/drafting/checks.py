"""Checks of drafted rubrics and keywords without a model, and the assignment of points."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks.benchmarks.rigorous import QUERY_POINTS
from tasks.configuration.inversion import DraftingSettings
from tasks.inversion.naming import are_same_words
from tasks.judges.questions.draft_rubrics import DraftedRubric
from tasks.judges.text import extract_entities, extract_numbers, extract_terms
from tasks.metrics.integrated_score import count_whole_words, normalise_text

RUBRIC_PREFIX = "Does the report"
MOST_CHARS = 800
"""Most characters of a rubric, however few words it has."""


@dataclass(frozen=True)
class DraftSubject:
    """The article to draft from."""

    title: str
    text: str
    facts: tuple[str, ...]

    def find_grounds(self, rubric: DraftedRubric) -> tuple[str, ...]:
        """Return the facts that a rubric refers to, without those that do not exist."""
        return tuple(self.facts[n - 1] for n in rubric.facts if 0 < n <= len(self.facts))


def find_rubric_problem(
    rubric: DraftedRubric, known: Iterable[str], subject: DraftSubject, settings: DraftingSettings
) -> str | None:
    """Return what is wrong with a rubric, or None. It must be a question about the report, refer
    to existing facts, and contain no number or name that these do not contain."""
    n_words = len(rubric.text.split())
    if not rubric.text.startswith(RUBRIC_PREFIX):
        return f"it does not begin with {RUBRIC_PREFIX!r}"
    if not settings.rubric_words.least <= n_words <= settings.rubric_words.most:
        return f"it has {n_words} words"
    if len(rubric.text) > MOST_CHARS:
        return f"it has {len(rubric.text):,} characters"
    if any(are_same_words(rubric.text, other) for other in known):
        return "it stands there twice"
    grounds = subject.find_grounds(rubric)
    if not grounds or len(grounds) != len(rubric.facts):
        return "it rests on facts that are not there"
    context = " ".join((subject.title, *grounds))
    for what, read in (("numbers", extract_numbers), ("names", extract_entities)):
        if unknown := sorted(read(rubric.text) - read(context) - {*extract_terms(context)}):
            return f"its facts do not hold its {what}: {', '.join(unknown[:5])}"
    return None


def find_keyword_problem(
    keyword: str,
    known: Sequence[str],
    subject: DraftSubject,
    settings: DraftingSettings,
    *,
    focus: bool,
) -> str | None:
    """Return what is wrong with a keyword, or None.

    The article must contain a focus keyword and must not contain a deviation keyword. Neither may
    come from the query, which is the title here.
    """
    if not 1 <= len(keyword.split()) <= settings.keyword_words:
        return f"it has more than {settings.keyword_words} words"
    if not extract_terms(keyword):
        return "it stands in every text"
    if {*extract_terms(keyword)} <= {*extract_terms(subject.title)}:
        return "it is taken from the title"
    if any({*extract_terms(keyword)} == {*extract_terms(other)} for other in known):
        return "it stands there twice"
    there = count_whole_words(keyword, normalise_text(subject.text)) > 0
    if focus and not there:
        return "the article does not speak of it"
    if there and not focus:
        return "the article speaks of it"
    return None


def assign_points(rubrics: Sequence[DraftedRubric], most_points: int) -> tuple[DraftedRubric, ...]:
    """Return the most important rubrics with points that sum to 30, as close to the drafted points
    as possible. The sum is lower only if `most_points` each do not suffice."""
    kept = list(rubrics)
    while len(kept) > 1 and sum(rubric.points for rubric in kept[:-1]) >= QUERY_POINTS:
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
