"""Checks of questions, for any text: bounds hold, figures are what they say, nothing is raised."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.inversion.checks import check_target, find_question_problem, measure_question
from tasks.inversion.context import build_surroundings
from tasks.inversion.naming import contains_name
from tasks.inversion.probes import select_excerpt
from tasks.judges.questions.find_targets import QuestionTarget, SubClaim, TargetProperty
from tasks.judges.text import occurs_in
from tests.tasks.inversion.scripted import QUESTION, SOURCE, TARGET, TEXT, settings

SETTINGS = settings()
PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [QUESTION, *TEXT.split(), *TEXT.split(". "), "Oakeshott", "Ellery", "1891"]
        ),
        st.text(max_size=20),
    ),
    max_size=30,
).map(" ".join)


@given(PIECES)
def test_a_question_without_a_problem_keeps_every_bound(question: str) -> None:
    figures = measure_question(question, SOURCE, SETTINGS)
    if find_question_problem(question, TARGET, SOURCE, SETTINGS) is None:
        bounds = SETTINGS.question_words
        assert bounds.least <= figures.n_words <= bounds.most
        assert (figures.ngram_share or 0) <= SETTINGS.most_ngram_share
        assert figures.longest_run <= SETTINGS.longest_common_run
        for name in (TARGET.answer, *TARGET.also, "Oakeshott", SOURCE.title, "Ellery", "1891"):
            assert not contains_name(question, name)


@given(st.sampled_from(TEXT.split(". ")), st.integers(0, 5))
def test_every_run_of_the_article_beyond_the_bound_is_a_problem(sentence: str, start: int) -> None:
    run = sentence.split()[start:]
    question = f"{QUESTION} {' '.join(run)}"
    if measure_question(question, SOURCE, SETTINGS).longest_run > SETTINGS.longest_common_run:
        assert find_question_problem(question, TARGET, SOURCE, SETTINGS) is not None


SENTENCE = st.one_of(st.sampled_from([*TEXT.splitlines(), *TEXT.split(". ")]), st.text())
VALUE = st.one_of(st.sampled_from(TEXT.split()), st.text())
TARGETS = st.builds(
    QuestionTarget,
    answer=VALUE,
    also=st.lists(VALUE, max_size=2).map(tuple),
    sentence=SENTENCE,
    kind=st.text(),
    category=st.just("entities"),
    properties=st.lists(st.builds(TargetProperty, text=st.text(), sentence=SENTENCE)).map(tuple),
    sub_claims=st.lists(
        st.builds(SubClaim, name=st.text(), value=VALUE, sentence=SENTENCE), max_size=4
    ).map(tuple),
)


@given(TARGETS)
def test_whatever_is_kept_of_a_target_stands_in_the_article(target: QuestionTarget) -> None:
    found = check_target(target, SOURCE, SETTINGS)
    if found.problem:
        return
    kept = found.target
    assert len(kept.properties) >= SETTINGS.least_properties
    claims = (kept.sentence, *(p.sentence for p in kept.properties))
    assert all(occurs_in(sentence, TEXT) for sentence in claims)
    assert all(contains_name(c.sentence, c.value) for c in kept.sub_claims)
    assert all(occurs_in(c.sentence, TEXT) for c in kept.sub_claims)
    n_kept = len(kept.properties) + len(kept.sub_claims)
    assert n_kept + len(found.dropped) == len(target.properties) + len(target.sub_claims)


@given(st.text(), st.text(), st.integers(1, 200))
def test_an_excerpt_is_never_longer_than_allowed(page: str, query: str, most: int) -> None:
    shown = select_excerpt(page, query, most)
    assert len(shown) <= most
    assert len(page) > most or shown == page


def test_an_excerpt_holds_what_the_query_asks_for_in_the_page_s_order() -> None:
    filler = [f"Sentence {n} tells about gardens and rivers in the county." for n in range(50)]
    page = "\n".join((*filler, "The bridge turned on cannon balls.", *filler,
                      "Oakeshott built the bridge."))  # fmt: skip
    shown = select_excerpt(page, "Which bridge of cannon balls did Oakeshott build?", 80)
    assert shown == "The bridge turned on cannon balls.\nOakeshott built the bridge."


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_any_archive_can_be_laid_out(archived: list[tuple[str, str]]) -> None:
    around = build_surroundings(SOURCE, archived, [url for url, _ in archived], SETTINGS)
    assert len(around.pages) <= len(archived)
