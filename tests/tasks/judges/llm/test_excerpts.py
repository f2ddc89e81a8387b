"""Pages are cut in the open: bounded, in order, around what matters, the same every time."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.judges.llm import excerpts
from tasks.judges.llm.excerpts import (
    PASSAGE_CHARACTERS,
    Excerpt,
    LongPage,
    count_bytes,
    load_notice,
    split_passages,
)
from tasks.judges.offline.retrieval import Bm25

MARK = re.compile(r"\n\[… ([\d,]+) characters left out …\]\n")
LEAST = 5_000
"""The smallest bound that every passage fits into, of whatever characters it is."""
WORDS = ("tower", "river", "bridge", "iron", "opened", "visitors", "1889", "painters", "stone")
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
LINE = st.one_of(
    SENTENCE,
    SENTENCE.map(lambda text: f"## {text}"),
    st.just(""),
    st.tuples(SENTENCE, st.integers(10, 60)).map(lambda drawn: f"{drawn[0]}. " * drawn[1]),
    st.text(max_size=40),
)
PAGE = st.lists(LINE, min_size=5, max_size=40).map("\n".join)
STATEMENTS = st.lists(SENTENCE, max_size=4)


def cut(page: str, statements: list[str], most_bytes: int) -> Excerpt:
    return LongPage(page, load_notice()).make_excerpt(statements, most_bytes)


def filler(n_paragraphs: int) -> str:
    """Paragraphs of their own words, each a passage."""
    return "\n\n".join(" ".join([f"word{n}x{m}" for m in range(80)]) for n in range(n_paragraphs))


@settings(max_examples=60, deadline=None)
@given(st.one_of(PAGE, st.text(max_size=5_000)))
@example("a" * 5_000)
@example("a b. " * 2_000)
@example("\r\n\x0c\u2028" * 900)
def test_passages_are_short_and_together_the_page(page: str) -> None:
    found = split_passages(page)
    assert "".join(found) == page
    assert all(0 < len(passage) <= PASSAGE_CHARACTERS for passage in found)
    assert len(found) <= 3 + len(page) // (PASSAGE_CHARACTERS // 4)


@settings(max_examples=60, deadline=None)
@given(PAGE, STATEMENTS, st.integers(LEAST, 3 * LEAST))
def test_an_excerpt_is_bounded_and_consists_of_the_page_in_its_order(
    page: str, statements: list[str], most_bytes: int
) -> None:
    found = cut(page, statements, most_bytes)
    assert count_bytes(found.text) <= most_bytes
    if MARK.search(page):
        return
    pieces = MARK.split(found.text)
    at = 0
    for shown, left_out in zip(pieces[::2], [*pieces[1::2], "0"], strict=True):
        assert page.startswith(shown, at)
        at += len(shown) + int(left_out.replace(",", ""))
    assert at == len(page)
    shown_characters = sum(map(len, pieces[::2]))
    assert found.shown_share == shown_characters / len(page)


@settings(max_examples=50, deadline=None)
@given(PAGE, STATEMENTS, st.integers(LEAST, 3 * LEAST))
def test_the_same_page_and_statements_give_the_same_excerpt(
    page: str, statements: list[str], most_bytes: int
) -> None:
    assert cut(page, statements, most_bytes) == cut(page, statements, most_bytes)


@settings(max_examples=40, deadline=None)
@given(PAGE, st.lists(SENTENCE, min_size=1, max_size=4))
def test_the_best_passage_for_each_statement_is_shown(page: str, statements: list[str]) -> None:
    in_passages = split_passages(page)
    found = cut(page, statements, (4 + len(statements)) * 5 * PASSAGE_CHARACTERS)
    for best in Bm25(in_passages).top_many(statements, 1):
        assert all(in_passages[place] in found.text for place in best)


def test_the_beginning_is_shown_whatever_the_statements_are_about() -> None:
    about = "\n\n".join(f"The mill burnt in 1911, says source {n}. {'x ' * 300}" for n in range(50))
    page = f"# A title\nBy A. Writer, 3 May 2024\n\n{filler(20)}\n\n{about}"
    found = cut(page, ["The mill burnt in 1911."], 2 * LEAST)
    assert found.text.startswith("# A title\nBy A. Writer, 3 May 2024\n")
    assert "The mill burnt in 1911" in found.text


@pytest.mark.parametrize("most_characters", [8_000, 2_000_000])
def test_marks_count_towards_the_bound(
    most_characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excerpts, "MAX_CHARACTERS", most_characters)
    matters = [f"heron {n} " + "x" * 500 for n in range(30)]
    page = "\n\n".join(
        text for pair in zip(matters, ["y" * 510] * 30, strict=True) for text in pair
    )
    for most_bytes in range(LEAST, 9_000, 13):
        assert count_bytes(cut(page, ["A heron."], most_bytes).text) <= most_bytes


def test_statements_take_turns_so_that_none_takes_all_the_room() -> None:
    about = [f"heron heron {n} " + "x" * 900 for n in range(40)]
    page = "\n\n".join([filler(10), *about, filler(10), "One otter was seen.", filler(10)])
    found = cut(page, ["The heron.", "An otter was seen."], 2 * LEAST)
    assert "One otter was seen." in found.text
    assert "heron" in found.text


def test_room_that_no_passage_claims_goes_to_what_follows_the_beginning() -> None:
    page = filler(100)
    found = cut(page, ["Nothing of this."], 10 * LEAST)
    assert count_bytes(found.text) > 10 * LEAST - 2 * PASSAGE_CHARACTERS
    shown, left_out, rest = MARK.split(found.text)
    assert page == shown + page[len(shown) :]
    assert (len(shown) + int(left_out.replace(",", "")), rest) == (len(page), "")


def test_paragraphs_and_sentences_stay_whole_where_they_can() -> None:
    paragraph = "The tower is made of iron and stands by the river. " * 11
    page = "\n\n".join(["# Tower", paragraph, "## Bridge", paragraph, paragraph])
    assert [passage[:9] for passage in split_passages(page)] == [
        "# Tower\n\n",
        "## Bridge",
        "The tower",
    ]
    line = "It opened in 1889 to visitors. " * 100
    assert all(passage.endswith("visitors. ") for passage in split_passages(line))
    unpunctuated = "stone " * 1_000
    assert all(passage.endswith("stone ") for passage in split_passages(unpunctuated))


def test_what_is_never_looked_at_counts_as_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpts, "MAX_CHARACTERS", 4_000)
    page = filler(20)
    found = cut(page, [], 50 * LEAST)
    shown, left_out, rest = MARK.split(found.text)
    assert (len(shown), rest) == (4_000, "")
    assert int(left_out.replace(",", "")) == len(page) - 4_000
    assert found.shown_share == 4_000 / len(page)


@pytest.mark.parametrize("page", ["\n" * 200_000, "a" * 200_000, "# \n" * 60_000, "中。" * 90_000])
def test_pages_of_nothing_are_cut_too(page: str) -> None:
    found = cut(page, ["The tower opened in 1889."], LEAST)
    assert count_bytes(found.text) <= LEAST
    assert 0 < found.shown_share < 1


def test_the_notice_tells_of_the_mark_as_it_stands_there() -> None:
    notice = load_notice()
    assert notice.render_gap(12_400).strip() in notice.system
    assert notice.files == ()
