"""What can be checked of drafted rubrics and keywords without a model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.benchmarks.rigorous import LEAST_RUBRICS, QUERY_POINTS
from tasks.configuration.inversion import load_drafting
from tasks.drafting.checks import (
    DraftSubject,
    assign_points,
    find_keyword_problem,
    find_rubric_problem,
)
from tasks.judges.questions.draft_rubrics import DraftedRubric

SETTINGS = load_drafting()
SUBJECT = DraftSubject(
    title="Red Lighthouse",
    text="The tower was lit in 1882. Ada Brown designed its lantern of granite blocks.",
    facts=("The tower was lit in 1882.", "Ada Brown designed its lantern."),
)


def rubric(text: str, *facts: int, points: int = 2, ternary: bool = False) -> DraftedRubric:
    return DraftedRubric(text=text, facts=facts, points=points, ternary=ternary)


@pytest.mark.parametrize(
    ("drafted", "problem"),
    [
        (rubric("Does the report say that the tower was lit in 1882?", 1), None),
        (rubric("Does the report name Ada Brown as who designed the lantern?", 2), None),
        (rubric("Does the report say when the Red Lighthouse was lit?", 1), None),
        (rubric("The report says that the tower was lit in 1882.", 1), "does not begin with"),
        (rubric("Does the report help?", 1), "has 4 words"),
        (rubric("Does the report say " + "it " * 60 + "?", 1), "has 65 words"),
        (rubric("Does the report say " + "x" * 800 + " ?", 1), "has 822 characters"),
        (rubric("Does the report say that the tower was lit in 1883?", 1), "numbers: 1883"),
        (rubric("Does the report name Ada Brown as who lit the tower?", 1), "names: ada, brown"),
        (rubric("Does the report say that the tower was lit in 1882?", 3), "not there"),
        (rubric("Does the report say that the tower was lit in 1882?", 0, 1), "not there"),
        (rubric("Does the report say that the tower was lit in 1882?"), "not there"),
        (rubric("Does the report  say: the tower has stairs!", 1), "stands there twice"),
    ],
)
def test_a_rubric_rests_on_facts_that_are_there(
    drafted: DraftedRubric, problem: str | None
) -> None:
    known = ["Does the report say the tower has stairs?"]
    found = find_rubric_problem(drafted, known, SUBJECT, SETTINGS)
    assert (found is None) == (problem is None), found
    assert problem is None or problem in str(found)


@pytest.mark.parametrize(
    ("keyword", "focus", "problem"),
    [
        ("lantern", True, None),
        ("Ada Brown", True, None),
        ("tidal power", False, None),
        ("lighthouses", True, "taken from the title"),
        ("red", False, "taken from the title"),
        ("the", True, "stands in every text"),
        ("", True, "more than 4 words"),
        ("one two three four five", True, "more than 4 words"),
        ("tidal power", True, "does not speak of it"),
        ("lantern", False, "speaks of it"),
        ("granite", True, "stands there twice"),
        ("granites", True, "stands there twice"),
    ],
)
def test_a_keyword_is_not_taken_from_the_title(
    keyword: str, focus: bool, problem: str | None
) -> None:
    found = find_keyword_problem(keyword, ["granite"], SUBJECT, SETTINGS, focus=focus)
    assert (found is None) == (problem is None), found
    assert problem is None or problem in str(found)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([1] * 8, [4, 4, 4, 4, 4, 4, 3, 3]),
        ([2] * 20, [2] * 15),
        ([3] * 9 + [2] * 2, [3] * 9 + [2, 1]),
        ([2] * 3 + [3] * 9, [2] * 3 + [3] * 8),
        ([3, 3, 3], [5, 5, 5]),
        ([], []),
    ],
)
def test_points_are_made_30_as_near_to_the_draft_as_can_be(
    points: list[int], expected: list[int]
) -> None:
    drafted = [rubric(str(n), 1, points=value) for n, value in enumerate(points)]
    found = assign_points(drafted, SETTINGS.most_points)
    assert [each.points for each in found] == expected
    assert [each.text for each in found] == [str(n) for n in range(len(expected))]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=LEAST_RUBRICS, max_size=40))
def test_eight_rubrics_and_more_are_always_worth_30(drafted: list[tuple[int, bool]]) -> None:
    rubrics = [rubric("r", 1, points=max(p, 1 + t), ternary=t) for p, t in drafted]
    found = assign_points(rubrics, SETTINGS.most_points)
    assert sum(each.points for each in found) == QUERY_POINTS
    assert len(found) >= LEAST_RUBRICS
    assert all(1 + each.ternary <= each.points <= SETTINGS.most_points for each in found)
