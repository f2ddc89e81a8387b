"""Where claims stand in a report, as sentences that do not overlap."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tasks.site.report_page import find_passages
from tests.tasks.site.texts import hostile

TEXT = "# Old Mill\n\nIt is old [1]. It is a mill [2]. *It* grinds.\n\n- Its owner is dead.\n"


def said(text: str, *claims: tuple[int, int | None, str]) -> list[tuple[str, tuple[int, ...], str]]:
    return [
        (text[p.start : p.end], tuple(number for number, _, _ in p.claims), p.tone)
        for p in find_passages("Old Mill", text, claims)
    ]


def test_a_claim_marks_the_sentence_that_it_stands_in() -> None:
    found = said(TEXT, (0, TEXT.index("a mill"), "supported"), (1, TEXT.index("grinds"), "open"))
    assert [(claims, tone) for _, claims, tone in found] == [((0,), "good"), ((1,), "open")]
    assert "It is a mill" in found[0][0]
    assert "is old" not in found[0][0]
    assert found[1][0].endswith("grinds.")


def test_several_claims_of_a_sentence_share_its_mark_and_the_worst_names_it() -> None:
    at = TEXT.index("owner")
    ((words, claims, tone),) = said(TEXT, (4, at, "supported"), (5, at, "conflicting"))
    assert (words, claims, tone) == ("Its owner is dead.", (4, 5), "bad")


def test_a_claim_without_a_place_marks_nothing() -> None:
    assert said(TEXT, (0, None, "supported"), (1, len(TEXT) + 9, "supported")) == []


def test_a_mark_of_a_source_belongs_to_the_sentence_before_it() -> None:
    text = "The first was lit. [1] The second fell. [2]\n"
    found = said(text, (0, text.index("The first"), "supported"),
                 (1, text.index("The second"), "not_supported"))  # fmt: skip
    assert [words for words, _, _ in found] == ["The first was lit. [1]", "The second fell. [2]"]


@given(hostile, st.lists(st.integers(0, 200), max_size=8))
def test_passages_are_apart_in_order_and_hold_each_claim_once(text: str, places: list[int]) -> None:
    claims = [(n, place, "supported") for n, place in enumerate(places)]
    found = find_passages("Title", text, claims)
    for before, after in pairwise(found):
        assert before.end <= after.start
    assert all(0 <= p.start < p.end <= len(text) and text[p.start : p.end].strip() for p in found)
    held = [n for p in found for n, _, _ in p.claims]
    assert len(held) == len(set(held))
    assert set(held) <= set(range(len(places)))
