"""What is wrong with a file, in words."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, StrictInt, StringConstraints, ValidationError

from tasks.configuration.wording import describe_expected, format_location

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


class Item(BaseModel):
    id: str
    n: StrictInt = 0
    words: Annotated[str, StringConstraints(pattern=r"\S", max_length=9)] = "some"
    short: Annotated[str, StringConstraints(min_length=2, pattern="^[a-z]+$")] = "ab"


class Things(BaseModel):
    items: Annotated[tuple[Item, ...], Field(min_length=1, max_length=2)]


def problem_of(content: Any) -> Any:
    with pytest.raises(ValidationError) as error:
        Things.model_validate(content)
    return error.value.errors()[0]


@pytest.mark.parametrize(
    ("item", "place", "words"),
    [
        ({"n": "1"}, "`items.0.n` (id 'a')", "expected a whole number"),
        ({"n": 1.5}, "`items.0.n` (id 'a')", "expected a whole number"),
        ({"words": " "}, "`items.0.words` (id 'a')", "expected some words"),
        ({"words": "0123456789"}, "`items.0.words` (id 'a')",
         "expected a text of at most 9 characters"),
        ({"short": "a"}, "`items.0.short` (id 'a')", "expected a text of at least 2 characters"),
        ({"short": "A1"}, "`items.0.short` (id 'a')", "expected the form ^[a-z]+$"),
        ({"id": 3}, "`items.0.id`", "expected a text (put it in quotes)"),
    ],
)  # fmt: skip
def test_it_names_the_place_and_what_was_expected(
    item: dict[str, Any], place: str, words: str
) -> None:
    content = {"items": [{"id": "a"} | item]}
    problem = problem_of(content)
    assert (format_location(problem, content), describe_expected(problem)) == (place, words)


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        ({}, "`items`", "it is missing"),
        ({"items": []}, "`items`", "expected a list of at least 1"),
        ({"items": [{"id": "a"}] * 3}, "`items`", "expected a list of at most 2"),
        ({"items": "a"}, "`items`", "expected a list"),
        ({"items": ["a"]}, "`items.0`", "expected a mapping of keys"),
        ("a", "`(top)`", "expected a mapping of keys"),
    ],
)
def test_it_speaks_of_lists_and_keys(content: Any, place: str, words: str) -> None:
    problem = problem_of(content)
    assert (format_location(problem, content), describe_expected(problem)) == (place, words)


@given(VALUES)
def test_whatever_stands_there_has_a_place_and_words(content: Any) -> None:
    try:
        Things.model_validate({"items": content})
    except ValidationError as error:
        for problem in error.errors():
            assert format_location(problem, {"items": content}).startswith("`items")
            assert describe_expected(problem)
