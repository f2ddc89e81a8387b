"""Tables of figures in terminals of any width."""

import re
from io import StringIO

from hypothesis import given, settings
from hypothesis import strategies as st

from flows.display.console import VisibleConsole
from flows.display.wide_table import (
    LONGEST_WORD,
    WideColumn,
    print_text_table,
    print_wide_table,
)

HEADINGS = ("Integr.", "Query r.", "Evidence not found", "Total (published)", "Presentation")
AGENTS = WideColumn("Agent", ["thorough", "terse"], "left")


def printed(
    width: int, columns: list[WideColumn], title: str = "A board", *, terminal: bool = False
) -> list[str]:
    to = VisibleConsole(file=StringIO(), width=width, force_terminal=terminal, no_color=True)
    print_wide_table(to, title, [WideColumn("#", ["1", "2"]), AGENTS], columns)
    text: str = to.file.getvalue()  # type: ignore[attr-defined]
    return text.splitlines()


@settings(deadline=None)
@given(
    st.integers(30, 200),
    st.lists(
        st.tuples(st.sampled_from(HEADINGS), st.floats(0, 120), st.floats(0, 120)),
        min_size=1,
        max_size=12,
    ),
)
def test_no_figure_is_cut_and_no_line_is_too_long(
    width: int, figures: list[tuple[str, float, float]]
) -> None:
    columns = [WideColumn(name, [f"{a:.1f}*", f"{b:.1f} "]) for name, a, b in figures]
    lines = printed(width, columns)
    assert max(map(len, lines)) <= width
    rows = {agent: " ".join(line for line in lines if agent in line).split()
            for agent in AGENTS.cells}  # fmt: skip
    for agent, place in (("thorough", 0), ("terse", 1)):
        said = [cell for cell in rows[agent] if "." in cell]
        assert said == [column.cells[place].strip() for column in columns]
    assert "…" not in "".join(lines)


def test_what_fits_is_one_table_with_headings_in_one_line() -> None:
    columns = [WideColumn(name, ["1.0", "2.0"]) for name in HEADINGS]
    wide, narrow = printed(200, columns), printed(60, columns)
    assert sum("Agent" in line for line in wide) == 1
    assert any("Evidence not found" in line for line in wide)
    assert sum("thorough" in line for line in narrow) == 2
    assert wide[0] == narrow[0] == "A board"


def test_names_are_no_markup() -> None:
    lines = printed(80, [WideColumn("[red]", ["[bold]1", "2"])], "[/] board")
    assert lines[0] == "[/] board"
    assert any("[red]" in line for line in lines)
    assert any("[bold]1" in line for line in lines)


def test_a_narrow_terminal_leaves_out_what_is_least_needed_and_says_so() -> None:
    columns = [
        WideColumn(name, ["1.0", "2.0"], spare=n) for n, name in enumerate((*HEADINGS, "Rep."))
    ]
    columns[-1] = columns[-1]._replace(spare=0)
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in printed(55, columns, terminal=True)]
    assert sum("thorough" in line for line in lines) == 1
    assert "Presentation" not in "".join(lines[:-2])
    assert "No room for Total (published), Presentation" in " ".join(lines)
    assert max(map(len, lines)) <= 55
    assert "Rep." in "".join(lines)
    assert sum("thorough" in line for line in printed(55, columns)) == 2  # in a file all is kept


@given(
    st.integers(40, 120),
    st.lists(
        st.text("abc ", min_size=1, max_size=60).map(lambda text: " ".join(text.split()) or "a"),
        min_size=1, max_size=4,
    ),
)  # fmt: skip
@settings(deadline=None)
def test_texts_are_cut_between_words_where_the_words_fit(width: int, texts: list[str]) -> None:
    to = VisibleConsole(file=StringIO(), width=width)
    columns = [WideColumn(f"c{n}", [text], "left") for n, text in enumerate(texts)]
    print_text_table(to, columns)
    lines = to.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    words = [word for text in texts for word in text.split()]
    longest = [max(map(len, (f"c{n}", *text.split()))) for n, text in enumerate(texts)]
    if sum(longest) + 2 * len(texts) <= width and max(longest) <= LONGEST_WORD:
        assert sorted(" ".join(lines[3:]).split()) == sorted(words)


def test_a_narrow_terminal_spares_columns_whose_words_do_not_fit() -> None:
    to = VisibleConsole(file=StringIO(), width=30, force_terminal=True, no_color=True)
    name, model = "perplexity_sonar_deep", "sonar-deep-research"
    print_text_table(to, [WideColumn("agent", [name], "left"),
                          WideColumn("model", [model], "left", spare=1)])  # fmt: skip
    shown = to.file.getvalue()  # type: ignore[attr-defined]
    assert name in shown
    assert model not in shown
    assert "No room for model" in shown
