"""A name is found in every spelling, and so is a telling part of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.inversion.naming import (
    holds,
    names_answer,
    names_article,
    parts,
    same_words,
    words,
)

ARTICLE = (
    "Lynn Dickey led the Packers. He was young then, said Lester Young. The game was long. "
    "Łódź and Nové Město lie far from the Green Bay."
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who was LYNN DICKEY of", "Lynn Dickey"),
        ("a pass of Lynn  Dickey's", "Lynn Dickey"),
        ("a pass of Lynn Dickey’s team", "Lynn Dickey"),
        ("in Lodz", "Łódź"),
        ("in nove mesto", "Nové Město"),
        ("the Spiderman film", "Spider-Man"),
        ("the spider man film", "Spider-Man"),
        ("a Spider-Man", "Spiderman"),
        ("OBrien's law", "O'Brien"),
        ("the Packer way", "Packers"),
        ("Packers", "Packer"),
        ("Dic\u200bkey came", "Dickey"),
        ("ＤＩＣＫＥＹ came", "Dickey"),
        ("Fall River–New Bedford", "Fall River/New Bedford"),
    ],
)
def test_a_name_is_found_in_any_spelling(text: str, name: str) -> None:
    assert holds(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("the dictionary", "Dick"), ("a cartoon", "Art"), ("in 19820", "1982"), ("", "x"), ("x", "")],
)
def test_a_name_inside_another_word_is_not_found(text: str, name: str) -> None:
    assert not holds(text, name)


@pytest.mark.parametrize(
    ("question", "given_away"),
    [
        ("Which quarterback called Dickey was it?", "dickey"),
        ("Which quarterback called dickey was it?", "dickey"),
        ("Which Dickeys won?", "dickey"),
        ("Was it Lynn Dickey?", "Lynn Dickey"),
        ("Which quarterback won?", None),
    ],
)
def test_a_telling_part_of_the_answer_gives_it_away(question: str, given_away: str | None) -> None:
    assert names_answer(question, ["Lynn Dickey"], ARTICLE) == given_away


def test_a_part_that_is_also_a_common_word_tells_only_with_a_capital_letter() -> None:
    assert names_answer("Which young player was it?", ["Lester Young"], ARTICLE) is None
    assert names_answer("Which Young was it?", ["Lester Young"], ARTICLE) == "young"


def test_other_names_count_as_well() -> None:
    assert names_answer("The Bay it was?", ["Lambeau", "Green Bay"], ARTICLE) == "bay"


def test_a_title_s_common_words_may_be_used_and_its_names_may_not() -> None:
    title = "1982 Packers Game (Dickey)"
    assert names_article("Which game was it in 1982?", title, ARTICLE) is None
    assert names_article("Which Packers won?", title, ARTICLE) == "packers"


def test_a_title_without_its_brackets_is_found_too() -> None:
    assert names_article("Which game took long?", "Long game (film)", "a long game") is None
    assert names_article("Which long game?", "Long game (film)", "a long game") == "Long game"


def test_stop_words_and_short_words_are_no_parts() -> None:
    assert parts("The Battle of Vi-Ab") == ("battle",)


@pytest.mark.parametrize(("one", "other"), [("the Alps", "Alps"), ("Łódź", "lodz"), ("A b", "b")])
def test_an_article_before_a_name_is_no_part_of_it(one: str, other: str) -> None:
    assert same_words(one, other)


def test_texts_without_words_are_not_the_same() -> None:
    assert not same_words("", "")
    assert not same_words("—", "…")


@given(st.text())
@example("ŉ's ʼ ß ﬁ İ")
def test_words_of_words_are_the_same_words(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once


NAME = st.lists(st.from_regex(r"\A[A-Za-zÀ-ÿ]{2,9}\Z"), min_size=1, max_size=3).map(" ".join)


@given(NAME, st.text(), st.text())
def test_whatever_surrounds_it_a_name_is_found(name: str, before: str, after: str) -> None:
    assert holds(f"{before} {name} {after}", name)
    assert holds(f"{before} {name.upper()} {after}", name)
    assert names_answer(f"{before} {name} {after}", [name], "") is not None
