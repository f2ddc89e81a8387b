"""A name is found in every spelling, and so is a telling part of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.inversion.naming import (
    are_same_words,
    contains_name,
    find_answer_name,
    find_article_name,
    name_parts,
    split_words,
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
    assert contains_name(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("the dictionary", "Dick"), ("a cartoon", "Art"), ("in 19820", "1982"), ("", "x"), ("x", "")],
)
def test_a_name_inside_another_word_is_not_found(text: str, name: str) -> None:
    assert not contains_name(text, name)


@pytest.mark.parametrize(
    ("question", "names", "given_away"),
    [
        ("Which quarterback called Dickey was it?", ["Lynn Dickey"], "dickey"),
        ("Which quarterback called dickey was it?", ["Lynn Dickey"], "dickey"),
        ("Which Dickeys won?", ["Lynn Dickey"], "dickey"),
        ("Was it Lynn Dickey?", ["Lynn Dickey"], "Lynn Dickey"),
        ("Which quarterback won?", ["Lynn Dickey"], None),
        # A part that is also a common word tells only with a capital letter.
        ("Which young player was it?", ["Lester Young"], None),
        ("Which Young was it?", ["Lester Young"], "young"),
        ("The Bay it was?", ["Lambeau", "Green Bay"], "bay"),
    ],
)
def test_a_telling_part_of_the_answer_gives_it_away(
    question: str, names: list[str], given_away: str | None
) -> None:
    assert find_answer_name(question, names, ARTICLE) == given_away


def test_a_title_s_common_words_may_be_used_and_its_names_may_not() -> None:
    title = "1982 Packers Game (Dickey)"
    assert find_article_name("Which game was it in 1982?", title, ARTICLE) is None
    assert find_article_name("Which Packers won?", title, ARTICLE) == "packers"


def test_a_title_without_its_brackets_is_found_too() -> None:
    assert find_article_name("Which game took long?", "Long game (film)", "a long game") is None
    assert find_article_name("Which long game?", "Long game (film)", "a long game") == "Long game"


def test_stop_words_and_short_words_are_no_parts() -> None:
    assert name_parts("The Battle of Vi-Ab") == ("battle",)


@pytest.mark.parametrize(("one", "other"), [("the Alps", "Alps"), ("Łódź", "lodz"), ("A b", "b")])
def test_an_article_before_a_name_is_no_part_of_it(one: str, other: str) -> None:
    assert are_same_words(one, other)


def test_texts_without_words_are_not_the_same() -> None:
    assert not are_same_words("", "")
    assert not are_same_words("—", "…")


@given(st.text())
@example("ŉ's ʼ ß ﬁ İ")
def test_words_of_words_are_the_same_words(text: str) -> None:
    once = split_words(text)
    assert split_words(" ".join(once)) == once


NAME = st.lists(st.from_regex(r"\A[A-Za-zÀ-ÿ]{2,9}\Z"), min_size=1, max_size=3).map(" ".join)


@given(NAME, st.text(), st.text())
def test_whatever_surrounds_it_a_name_is_found(name: str, before: str, after: str) -> None:
    assert contains_name(f"{before} {name} {after}", name)
    assert contains_name(f"{before} {name.upper()} {after}", name)
    assert find_answer_name(f"{before} {name} {after}", [name], "") is not None
