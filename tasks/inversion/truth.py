"""What is true for a question: the target, what else fits, and the sources that are accepted."""

from collections.abc import Sequence
from typing import Literal

from tasks.inversion.bench import ArchivedPage, Surroundings
from tasks.inversion.draft import Draft
from tasks.inversion.naming import holds, words
from tasks.judges.text import stop_words
from tasks.warehouse.truths import TruthClaim

LEAST_WORDS = 0.6
"""Share of a sentence's words that a page must hold to count as a source of its claim."""
SourcesRule = Literal["pages", "article", "mixed", "none"]
"""`pages`: archived reference pages that hold a claim's value and most of its sentence's words.
`article`: all references of the article, because the cleaned text does not say which one a
sentence cites and no archived page tells. `mixed`: the one for some claims, the other for the
others. `none`: the article's references are not known."""


def truths_of(draft: Draft, around: Surroundings) -> tuple[TruthClaim, ...]:
    """The target with its sub-claims, then what the judge added, of which nothing else is known."""
    target = draft.target
    sub_claims = tuple(
        TruthClaim(
            value=claim.value,
            name=claim.name,
            sources=_sources(claim.value, claim.sentence, around),
            sentence=claim.sentence,
        )
        for claim in target.sub_claims
    )
    main = TruthClaim(
        value=target.answer,
        also=target.also,
        sub_claims=sub_claims,
        sources=_sources(target.answer, target.sentence, around),
        sentence=target.sentence,
    )
    return (main, *(TruthClaim(value=other.value) for other in draft.added))


def sources_rule(truths: Sequence[TruthClaim], around: Surroundings) -> SourcesRule:
    """Which rule the sources of the article's own claims follow."""
    claims = [c for main in truths for c in (main, *main.sub_claims) if c.sentence is not None]
    everything = frozenset(around.references)
    rules: set[SourcesRule] = {
        "article" if everything and frozenset(c.sources) == everything else "pages"
        for c in claims
        if c.sources
    }
    if not rules or not all(claim.sources for claim in claims):
        return "mixed" if rules else "none"
    return rules.pop() if len(rules) == 1 else "mixed"


def _sources(value: str, sentence: str, around: Surroundings) -> tuple[str, ...]:
    known = frozenset(around.references)
    wanted = frozenset(words(sentence)) - stop_words()
    held = tuple(
        page.url for page in around.pages if page.url in known and _tells(page, value, wanted)
    )
    return held or around.references


def _tells(page: ArchivedPage, value: str, wanted: frozenset[str]) -> bool:
    there = frozenset(page.words)
    return len(wanted & there) >= LEAST_WORDS * len(wanted) and holds(page.words, value)
