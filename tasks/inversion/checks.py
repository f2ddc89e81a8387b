"""What can be checked of a target and of a question without a model.

A problem is a reason by which rejections are counted, and a sentence for the judge that is asked
again.
"""

from dataclasses import dataclass

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.naming import holds, names_answer, names_article, words
from tasks.inversion.overlap import longest_common_run, shared_share
from tasks.judges.inversion import Property, SubClaim, Target
from tasks.judges.text import stands_in


@dataclass(frozen=True)
class Source:
    """The article that is turned around."""

    title: str
    url: str
    text: str


@dataclass(frozen=True)
class Problem:
    """What is wrong with a target or a question."""

    reason: str
    detail: str


@dataclass(frozen=True)
class CheckedTarget:
    """A target with what stands the checks, and what was left out of it."""

    target: Target
    dropped: tuple[str, ...] = ()
    problem: Problem | None = None


@dataclass(frozen=True)
class Figures:
    """What the checks of a question measured."""

    n_words: int
    ngram_share: float | None
    """Null in a question shorter than an n-gram."""
    longest_run: int


def check_target(target: Target, source: Source, settings: InversionSettings) -> CheckedTarget:
    """A target whose claims stand in the article, each in its sentence.

    A property or sub-claim that fails is left out and noted; a target is refused if its own
    sentence fails or too few properties are left.
    """
    names = (target.answer, *target.also)
    dropped: list[str] = []
    if problem := _answer_problem(target, source, settings):
        return CheckedTarget(target, problem=problem)
    properties: list[Property] = []
    for prop in target.properties:
        if wrong := _property_problem(prop, properties, names, source, settings):
            dropped.append(f"property: {wrong}: {prop.text}")
        else:
            properties.append(prop)
    sub_claims: list[SubClaim] = []
    for claim in target.sub_claims:
        if wrong := _sub_claim_problem(claim, sub_claims, properties, names, source, settings):
            dropped.append(f"sub-claim: {wrong}: {claim.name}")
        else:
            sub_claims.append(claim)
    kept = target.model_copy(
        update={"properties": tuple(properties), "sub_claims": tuple(sub_claims)}
    )
    problem = None
    if len(properties) < settings.least_properties:
        problem = Problem(
            "too_few_properties",
            f"{len(properties)} of {len(target.properties)} stand the checks; "
            f"{settings.least_properties} are needed",
        )
    return CheckedTarget(kept, tuple(dropped), problem)


def figures_of(question: str, source: Source, settings: InversionSettings) -> Figures:
    """What `question_problem` measures."""
    asked, there = words(question), words(source.text)
    return Figures(
        n_words=len(asked),
        ngram_share=shared_share(asked, there, settings.ngram_words),
        longest_run=longest_common_run(asked, there),
    )


def question_problem(
    question: str, target: Target, source: Source, settings: InversionSettings
) -> Problem | None:
    """Why a question cannot be used; None where nothing forbids it."""
    figures = figures_of(question, source, settings)
    bounds = settings.question_words
    if not bounds.least <= figures.n_words <= bounds.most:
        return Problem(
            "length",
            f"It has {figures.n_words} words; expected {bounds.least} to {bounds.most}.",
        )
    if name := names_answer(question, (target.answer, *target.also), source.text):
        return Problem("names_answer", f"It names the answer, or a part of its name: {name}")
    if name := names_article(question, source.title, source.text):
        return Problem("names_article", f"It names the article, or a part of its title: {name}")
    for claim in target.sub_claims:
        if holds(question, claim.value):
            return Problem(
                "names_sub_claim",
                f"It gives away what it asks for, {claim.name}: {claim.value}",
            )
    if figures.ngram_share is not None and figures.ngram_share > settings.most_ngram_share:
        return Problem(
            "ngram_overlap",
            f"{figures.ngram_share:.0%} of its runs of {settings.ngram_words} words stand in the "
            f"article; at most {settings.most_ngram_share:.0%} may. Use other words.",
        )
    if figures.longest_run > settings.longest_common_run:
        return Problem(
            "longest_run",
            f"It shares {figures.longest_run} words in a row with the article; at most "
            f"{settings.longest_common_run} may be the same. Use other words.",
        )
    return None


def _answer_problem(target: Target, source: Source, settings: InversionSettings) -> Problem | None:
    names = (target.answer, *target.also)
    if not words(target.answer):
        return Problem("no_answer", "the target has no name")
    if any(holds(source.title, n) or holds(n, source.title) for n in names if words(n)):
        return Problem("is_the_article", f"{target.answer!r} is the article's own subject")
    if wrong := _sentence_problem(target.sentence, source, settings):
        return Problem("sentence_not_in_article", f"the answer's sentence {wrong}")
    if not any(holds(target.sentence, name) for name in names):
        return Problem("value_not_in_sentence", "the answer's sentence does not name it")
    return None


def _property_problem(
    prop: Property,
    before: list[Property],
    names: tuple[str, ...],
    source: Source,
    settings: InversionSettings,
) -> str | None:
    if wrong := _sentence_problem(prop.sentence, source, settings):
        return f"its sentence {wrong}"
    if not words(prop.text):
        return "it says nothing"
    if any(words(prop.text) == words(other.text) for other in before):
        return "it is there twice"
    if name := names_answer(prop.text, names, source.text):
        return f"it names the answer ({name})"
    if name := names_article(prop.text, source.title, source.text):
        return f"it names the article ({name})"
    return None


def _sub_claim_problem(
    claim: SubClaim,
    before: list[SubClaim],
    properties: list[Property],
    names: tuple[str, ...],
    source: Source,
    settings: InversionSettings,
) -> str | None:
    if wrong := _sentence_problem(claim.sentence, source, settings):
        return f"its sentence {wrong}"
    if not words(claim.name) or not words(claim.value):
        return "it has no name or no value"
    if any(words(claim.name) == words(other.name) for other in before):
        return "it is there twice"
    if not holds(claim.sentence, claim.value):
        return "its sentence does not state its value"
    if any(holds(prop.text, claim.value) for prop in properties):
        return "a property gives its value away"
    if names_answer(claim.name, names, source.text):
        return "its name names the answer"
    if names_article(claim.name, source.title, source.text):
        return "its name names the article"
    return None


def _sentence_problem(sentence: str, source: Source, settings: InversionSettings) -> str | None:
    if len(words(sentence)) < settings.least_sentence_words:
        return f"is shorter than {settings.least_sentence_words} words"
    if not stands_in(sentence, source.text):
        return "does not stand in the article"
    return None
