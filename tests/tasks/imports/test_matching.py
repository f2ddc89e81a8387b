"""A file's name says its assignment, or is a guess, or says nothing; never two files for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.imports.matching import FileMatch, match_names

KNOWN = {
    "2007_NFC_Game": "2007 NFC Game",
    "2010_NFC_Game": "2010 NFC Game",
    "Banshee_(collection)": "Banshee (collection)",
    "Bellmer_La_Poupée": "Bellmer: La Poupée",
    "idx-12": "The Old Bridge of Enderlin",
    "q_7f3a": "",
}


def match(name: str) -> FileMatch:
    [found] = match_names([name], KNOWN)
    return found


@pytest.mark.parametrize(
    ("name", "assignment", "how"),
    [
        ("2010_NFC_Game", "2010_NFC_Game", "id"),
        ("Bellmer: La Poupée", "Bellmer_La_Poupée", "title"),
        ("banshee collection", "Banshee_(collection)", "id"),
        ("Bellmer_La_Poupe\u0301e", "Bellmer_La_Poupée", "id"),
        ("THE-OLD-BRIDGE-OF-ENDERLIN", "idx-12", "title"),
        ("idx-12", "idx-12", "id"),
        ("12", "idx-12", "id"),
        ("idx_012", "idx-12", "id"),
        ("q_7f3a", "q_7f3a", "id"),
    ],
)
def test_a_name_that_says_it_is_certain(name: str, assignment: str, how: str) -> None:
    found = match(name)
    assert (found.assignment, found.how, found.is_guess) == (assignment, how, False)


def test_a_number_is_a_guess_at_the_place_in_the_edition_s_order() -> None:
    found = match("idx-2")
    assert (found.assignment, found.how, found.is_guess) == ("2010_NFC_Game", "number", True)
    assert match("idx-3").assignment == "Banshee_(collection)"
    assert match("7").problem == "there is no assignment 7: the edition has 6"
    assert match("0").assignment is None


def test_a_name_that_is_alike_is_a_guess_with_its_runner_up() -> None:
    found = match("openai - the old bridge in Enderlin (final)")
    assert (found.assignment, found.how, found.is_guess) == ("idx-12", "likeness", True)
    assert found.score is not None
    assert found.runner_up_score is not None
    assert found.score > found.runner_up_score + 5
    assert found.runner_up != found.assignment


@pytest.mark.parametrize(
    ("name", "says"),
    [("NFC Game", "it may be 2007_NFC_Game or 2010_NFC_Game"),
     ("holiday photos", "no assignment has a name like it"), ("---", "no assignment")],
)  # fmt: skip
def test_a_name_that_may_be_two_or_none_is_neither(name: str, says: str) -> None:
    found = match(name)
    assert found.assignment is None
    assert says in str(found.problem)


def test_two_files_for_one_assignment_are_both_left() -> None:
    first, second, third = match_names(["2010_NFC_Game", "2010 nfc game", "idx-12"], KNOWN)
    assert (first.assignment, second.assignment, third.assignment) == (None, None, "idx-12")
    assert str(first.problem) == (
        "2010 nfc game is for 2010_NFC_Game as well; remove one of the two files"
    )


def test_a_guess_gives_way_to_a_certain_match() -> None:
    certain, guess = match_names(["2010_NFC_Game", "2"], KNOWN)
    assert (certain.assignment, guess.assignment) == ("2010_NFC_Game", None)
    assert "2010_NFC_Game is for 2010_NFC_Game as well" in str(guess.problem)


def test_assignments_of_one_name_are_told_apart_by_nobody() -> None:
    known = {
        "a1": "Mercury",
        "a2": "Mercury",
    }
    [found] = match_names(["Mercury"], known)
    assert found.problem == "its name is that of 2 assignments: a1, a2"


@given(st.lists(st.text(max_size=12), max_size=6), st.lists(st.text(max_size=8), max_size=6))
def test_no_names_give_one_assignment_to_two_files(names: list[str], ids: list[str]) -> None:
    known = {name: name[::-1] for name in ids}
    found = match_names(names, known)
    assert [m.file for m in found] == names
    taken = [m.assignment for m in found if m.assignment is not None]
    assert len(taken) == len(set(taken))
    assert set(taken) <= set(ids)
    assert all((m.assignment is None) == (m.problem is not None) for m in found)
