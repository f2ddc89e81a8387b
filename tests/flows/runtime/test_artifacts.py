"""What a run leaves in the Prefect UI: nothing from outside becomes markup there."""

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from flows.runtime.artifacts import (
    WORD_JOINER,
    build_leaderboard_tables,
    escape_markdown,
    format_markdown_table,
    neutralize_cell,
)
from tasks.foreign_text import make_visible

HOSTILE = (
    "<img src=x onerror=alert(1)> [x](http://evil.example) http://evil.example www.evil.example "
    "a@evil.example <https://evil.example> ![p](http://evil.example/p.png) [r]: http://evil.example"
)

PIECES = st.sampled_from(
    ["<b>", "</b>", "<script>", "[a](b)", "![a](b)", "http://a.example", "www.a.example", "a@b.ex",
     "`", "*", "_", "|", "\\", "&lt;", "&#60;", "# ", "- ", "1. ", "> ", "\n", "\t", " ", "word",
     "ftp://x", "<!--", "]]>", "---", "~~~", "é", "\u202e"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map("".join))
RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")
HARMLESS = {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


def tokens(markdown: str) -> list[Any]:
    blocks = RENDERER.parse(markdown)
    return [*blocks, *(child for block in blocks for child in block.children or ())]


def as_seen(text: str) -> str:
    return make_visible(text)


@settings(max_examples=60)
@given(TEXTS)
def test_text_from_outside_stays_text_on_one_line(text: str) -> None:
    shown = tokens(f"x {escape_markdown(text)}")
    assert {token.type for token in shown} <= HARMLESS
    read = "".join(token.content for token in shown if token.type in ("text", "text_special"))
    assert read.replace(WORD_JOINER, "").split() == as_seen(f"x {text}").split()


@settings(max_examples=60)
@given(TEXTS)
def test_a_cell_looks_the_same_and_holds_neither_a_link_nor_html(text: str) -> None:
    cell = neutralize_cell(text)
    assert cell.replace(WORD_JOINER, "") == as_seen(text)
    kinds = {token.type for token in tokens(f"x {' '.join(cell.split())}")}
    assert not kinds & {"link_open", "image", "html_inline", "html_block"}


def test_bare_addresses_are_broken_so_that_nothing_makes_links_of_them() -> None:
    for shown in (neutralize_cell(HOSTILE), escape_markdown(HOSTILE)):
        for address in ("http://", "https://", "http:&#47;", "www.", "a@e", "<img", "]("):
            assert address not in shown


def test_cells_that_are_no_text_stay_what_they_are() -> None:
    assert [neutralize_cell(cell) for cell in (1, 2.5, None, True)] == [1, 2.5, None, True]


@settings(max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_markdown_table_has_a_cell_for_each_value_whatever_it_holds(values: list[str]) -> None:
    blocks = RENDERER.parse(format_markdown_table([{"a": value, "b": "end"} for value in values]))
    cells = [block for block in blocks if block.type == "td_open"]
    assert len(cells) == 2 * len(values)


def test_no_rows_make_no_table() -> None:
    assert format_markdown_table([]) == ""


def row(protocol: str, metric: str, judge: str = "offline") -> dict[str, Any]:
    return {
        "edition": "e", "protocol": protocol, "agent": "a", "metric": metric, "judge": judge,
        "value": 0.5, "macro": 0.5, "micro": 0.5, "n_items": 2, "n_reports": 1, "n_open": 0,
        "provisional": False, "reason": None, "low": None, "high": None, "n_articles": None,
        "rank_from": None, "rank_to": None, "value_present": 0.5, "value_zero": 0.5,
        "n_delivered": 1, "n_missing": 0, "n_assignments": 1, "unranked": None,
    }  # fmt: skip


def test_every_table_of_the_leaderboard_has_an_artifact_whose_rows_have_the_same_columns() -> None:
    board = pl.DataFrame(
        [
            row("wiki_fact", "ref_acc"),
            row("wiki_fact", "ref_acc", "local"),
            row("research_gym", "kpr"),
            row("rigorous", "rigorous_integrated"),
        ],
        infer_schema_length=None,
    )
    tables = build_leaderboard_tables(board)
    assert next(iter(tables)) == "leaderboard"
    assert {"leaderboard-research-gym", "leaderboard-rigorous"} <= set(tables)
    for rows in tables.values():
        assert len({tuple(each) for each in rows}) == 1
        assert list(rows[0])[:3] == ["#", "Agent", "Judge"]
    assert {each["Judge"] for each in tables["leaderboard"]} == {"offline", "local"}
    assert build_leaderboard_tables(board.clear()) == {}
