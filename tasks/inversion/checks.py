"""Checks of targets and questions that need no model.

A problem has a reason, by which rejections are counted, and a detail for the judge when it is asked
again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.naming import contains_name, find_answer_name, find_article_name, split_words
from tasks.judges.questions.find_targets import QuestionTarget, SubClaim, TargetProperty
from tasks.judges.text import occurs_in


@dataclass(frozen=True)
class SourceArticle:
    """The article that is turned into questions."""

    title: str
    url: str
    text: str


@dataclass(frozen=True)
class CheckProblem:
    """What is wrong with a target or a question."""

    reason: str
    detail: str


@dataclass(frozen=True)
class CheckedTarget:
    """A target with the parts that pass the checks, and those that were dropped."""

    target: QuestionTarget
    dropped: tuple[str, ...] = ()
    problem: CheckProblem | None = None


@dataclass(frozen=True)
class QuestionMeasures:
    """Measurements of a question, on which its checks rest."""

    n_words: int
    ngram_share: float | None
    """Null for a question shorter than an n-gram."""
    longest_run: int


def check_target(
    target: QuestionTarget, source: SourceArticle, settings: InversionSettings
) -> CheckedTarget:
    """Check that a target's claims are in the article, each in its sentence.

    Properties and sub-claims that fail are dropped and noted; the target fails if its own sentence
    does or too few properties are left.
    """
    names = (target.answer, *target.also)
    dropped: list[str] = []
    if problem := _find_answer_problem(target, source, settings):
        return CheckedTarget(target, problem=problem)
    properties: list[TargetProperty] = []
    for prop in target.properties:
        if wrong := _find_property_problem(prop, properties, names, source, settings):
            dropped.append(f"property: {wrong}: {prop.text}")
        else:
            properties.append(prop)
    sub_claims: list[SubClaim] = []
    for claim in target.sub_claims:
        if wrong := _find_sub_claim_problem(claim, sub_claims, properties, names, source, settings):
            dropped.append(f"sub-claim: {wrong}: {claim.name}")
        else:
            sub_claims.append(claim)
    kept = target.model_copy(
        update={"properties": tuple(properties), "sub_claims": tuple(sub_claims)}
    )
    problem = None
    if len(properties) < settings.least_properties:
        problem = CheckProblem(
            "too_few_properties",
            f"{len(properties)} of {len(target.properties)} stand the checks; "
            f"{settings.least_properties} are needed",
        )
    return CheckedTarget(kept, tuple(dropped), problem)


def measure_question(
    question: str, source: SourceArticle, settings: InversionSettings
) -> QuestionMeasures:
    """Measure a question for `find_question_problem`."""
    question_words, article_words = split_words(question), split_words(source.text)
    return QuestionMeasures(
        n_words=len(question_words),
        ngram_share=shared_share(question_words, article_words, settings.ngram_words),
        longest_run=longest_common_run(question_words, article_words),
    )


def find_question_problem(
    question: str, target: QuestionTarget, source: SourceArticle, settings: InversionSettings
) -> CheckProblem | None:
    """Return why a question cannot be used; None if it can."""
    figures = measure_question(question, source, settings)
    bounds = settings.question_words
    if not bounds.least <= figures.n_words <= bounds.most:
        return CheckProblem(
            "length",
            f"It has {figures.n_words} words; expected {bounds.least} to {bounds.most}.",
        )
    if name := find_answer_name(question, (target.answer, *target.also), source.text):
        return CheckProblem("names_answer", f"It names the answer, or a part of its name: {name}")
    if name := find_article_name(question, source.title, source.text):
        return CheckProblem(
            "names_article", f"It names the article, or a part of its title: {name}"
        )
    for claim in target.sub_claims:
        if contains_name(question, claim.value):
            return CheckProblem(
                "names_sub_claim",
                f"It gives away what it asks for, {claim.name}: {claim.value}",
            )
    if figures.ngram_share is not None and figures.ngram_share > settings.most_ngram_share:
        return CheckProblem(
            "ngram_overlap",
            f"{figures.ngram_share:.0%} of its runs of {settings.ngram_words} words stand in the "
            f"article; at most {settings.most_ngram_share:.0%} may. Use other words.",
        )
    if figures.longest_run > settings.longest_common_run:
        return CheckProblem(
            "longest_run",
            f"It shares {figures.longest_run} words in a row with the article; at most "
            f"{settings.longest_common_run} may be the same. Use other words.",
        )
    return None


def _find_answer_problem(
    target: QuestionTarget, source: SourceArticle, settings: InversionSettings
) -> CheckProblem | None:
    names = (target.answer, *target.also)
    if not split_words(target.answer):
        return CheckProblem("no_answer", "the target has no name")
    if any(
        contains_name(source.title, n) or contains_name(n, source.title)
        for n in names
        if split_words(n)
    ):
        return CheckProblem("is_the_article", f"{target.answer!r} is the article's own subject")
    if wrong := _find_sentence_problem(target.sentence, source, settings):
        return CheckProblem("sentence_not_in_article", f"the answer's sentence {wrong}")
    if not any(contains_name(target.sentence, name) for name in names):
        return CheckProblem("value_not_in_sentence", "the answer's sentence does not name it")
    return None


def _find_property_problem(
    prop: TargetProperty,
    before: list[TargetProperty],
    names: tuple[str, ...],
    source: SourceArticle,
    settings: InversionSettings,
) -> str | None:
    if wrong := _find_sentence_problem(prop.sentence, source, settings):
        return f"its sentence {wrong}"
    if not split_words(prop.text):
        return "it says nothing"
    if any(split_words(prop.text) == split_words(other.text) for other in before):
        return "it is there twice"
    if name := find_answer_name(prop.text, names, source.text):
        return f"it names the answer ({name})"
    if name := find_article_name(prop.text, source.title, source.text):
        return f"it names the article ({name})"
    return None


def _find_sub_claim_problem(
    claim: SubClaim,
    before: list[SubClaim],
    properties: list[TargetProperty],
    names: tuple[str, ...],
    source: SourceArticle,
    settings: InversionSettings,
) -> str | None:
    if wrong := _find_sentence_problem(claim.sentence, source, settings):
        return f"its sentence {wrong}"
    if not split_words(claim.name) or not split_words(claim.value):
        return "it has no name or no value"
    if any(split_words(claim.name) == split_words(other.name) for other in before):
        return "it is there twice"
    if not contains_name(claim.sentence, claim.value):
        return "its sentence does not state its value"
    if any(contains_name(prop.text, claim.value) for prop in properties):
        return "a property gives its value away"
    if find_answer_name(claim.name, names, source.text):
        return "its name names the answer"
    if find_article_name(claim.name, source.title, source.text):
        return "its name names the article"
    return None


def _find_sentence_problem(
    sentence: str, source: SourceArticle, settings: InversionSettings
) -> str | None:
    if len(split_words(sentence)) < settings.least_sentence_words:
        return f"is shorter than {settings.least_sentence_words} words"
    if not occurs_in(sentence, source.text):
        return "does not stand in the article"
    return None


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Return every run of n words, with repetitions; empty for a shorter text."""
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def shared_share(words: Sequence[str], text: Sequence[str], n: int) -> float | None:
    """Return the share, 0-1, of the n-grams of `words` that are in `text`; None without n-grams."""
    runs = ngrams(words, n)
    if not runs:
        return None
    text_runs = set(ngrams(text, n))
    return sum(run in text_runs for run in runs) / len(runs)


def longest_common_run(words: Sequence[str], text: Sequence[str]) -> int:
    """Return the length in words of the longest common run.

    A common run of n words contains one of n-1, so a binary search finds the length.
    """
    shortest, longest = 0, min(len(words), len(text))
    while shortest < longest:
        n = (shortest + longest + 1) // 2
        if set(ngrams(words, n)) & set(ngrams(text, n)):
            shortest = n
        else:
            longest = n - 1
    return shortest
