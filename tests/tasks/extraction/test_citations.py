"""Every shape of citation marker, with its offsets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.extraction.citations import find_markers
from tasks.extraction.marker_forms import expand_numbers

U = "https://a.org/x"


@pytest.mark.parametrize(
    ("text", "markers"),
    [
        ("Ants bite[1].", [("[1]", ("1",), None)]),
        ("Ants bite[1][2].", [("[1]", ("1",), None), ("[2]", ("2",), None)]),
        ("Ants bite [1, 3].", [("[1, 3]", ("1", "3"), None)]),
        ("Ants bite [2–4].", [("[2–4]", ("2", "3", "4"), None)]),
        (r"Ants bite \[7\].", [(r"\[7\]", ("7",), None)]),
        (f"Ants bite [1]({U}).", [(f"[1]({U})", ("1",), U)]),
        (f"Ants bite [(1)]({U}).", [(f"[(1)]({U})", ("1",), U)]),
        (f"Ants bite [[1]]({U}).", [(f"[[1]]({U})", ("1",), U)]),
        (f'Ants bite ([NYT]({U} "Title")).', [(f'[NYT]({U} "Title")', (), U)]),
        (f"[Ants [sic]]({U}_(b)) bite", [(f"[Ants [sic]]({U}_(b))", (), U + "_(b)")]),
        ("Ants bite.[^1]", [("[^1]", ("1",), None)]),
        ("Ants bite.[^note]", [("[^note]", ("note",), None)]),
        ("Ants bite【1】【3】", [("【1】", ("1",), None), ("【3】", ("3",), None)]),
        ("Ants bite【12†source】", [("【12†source】", ("12",), None)]),
        (f"Ants bite【{U}】", [(f"【{U}】", (), U)]),
        ("Ants bite<sup>4</sup>", [("<sup>4</sup>", ("4",), None)]),
        (f"See {U}, they bite", [(U, (), U)]),
        (f"See <{U}>.", [(f"<{U}>", (), U)]),
        (f"![Ant]({U}.png)", []),
        ("Founded [1999] with [x] and a[0] = b", []),
    ],
)
def test_a_marker_is_found_in_each_shape(
    text: str, markers: list[tuple[str, tuple[str, ...], str | None]]
) -> None:
    found = [(m.text, m.numbers, m.url) for m in find_markers(text) if not text.startswith("![")]
    assert found == markers


def test_a_wide_or_backward_range_is_only_its_ends() -> None:
    assert expand_numbers("3-1") == ("3", "1")
    assert expand_numbers("1-999") == ("1", "999")


def test_a_number_that_lost_its_brackets_counts_only_where_the_list_explains_it() -> None:
    text = 'He played "the season on one." 6  \nIt cost 12\n| a resort. 2 | b |'
    text += "\n\nAnts bite[6]."
    assert [m.text for m in find_markers(text, {"6", "2", "12"})] == ["6", "2", "[6]"]
    assert [m.text for m in find_markers(text, {"7"})] == ["[6]"]


PIECES = st.sampled_from(
    [
        *("[1]", "[", "]", "(", ")", "](", "https://a.org/", "【", "】", "†", "[^a]", "\\", "!"),
        *(" ", "\n", "<sup>", "</sup>", "2", ",", "-", "word", "<", ">", '"', "é"),
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80))
def test_offsets_point_at_the_markers_and_markers_never_overlap(text: str) -> None:
    last = 0
    for marker in find_markers(text):
        assert text[marker.start : marker.end] == marker.text
        assert marker.start >= last
        last = marker.end


@pytest.mark.parametrize("piece", ["[", "(", " ", "](http://", "【1†", "[1", "https://a.b/(", "\\"])
def test_a_megabyte_of_nonsense_is_read_to_its_end(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert all(marker.end <= len(text) for marker in find_markers(text))
