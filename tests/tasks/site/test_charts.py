"""Pictures are inert SVG: no script, no address, no name that hides another."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tasks.site.charts import (
    HEAT,
    draw_bars,
    draw_heatmap,
    draw_profile,
    draw_ranking,
    draw_scatter,
)
from tasks.site.content import BoardEntry, FigureCell
from tests.tasks.site.texts import NAMES, PIECES

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {
    f"{SVG}{name}" for name in ("svg", "g", "path", "text", "line", "rect", "defs", "clipPath")
}
names = st.lists(st.sampled_from(PIECES) | st.text(max_size=30), min_size=1, max_size=4)


def entries(*values: float | None) -> list[BoardEntry]:
    return [
        BoardEntry(
            f"a{n}",
            f"Agent {n}",
            "x",
            (FigureCell(v, v and v - 0.1, v and v + 0.1),),
            {},
            None,
            None,
        )
        for n, v in enumerate(values)
    ]


def drawn(picture: str | None) -> etree._Element:
    assert picture
    root = etree.fromstring(picture)
    for element in root.iter():
        assert element.tag in SHAPES
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("style", "href", "{http://www.w3.org/1999/xlink}href")
            assert "http" not in value or name == "aria-label"
    return root


def words(root: etree._Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


@settings(max_examples=12, deadline=None)
@given(names)
def test_names_from_outside_are_words_in_a_picture(found: list[str]) -> None:
    sections = [(name, 2) for name in found]
    facts = ["found", "not found"] * len(found)
    root = drawn(draw_heatmap(dict.fromkeys(found, facts), sections, found[0]))
    for word in (*words(root), root.get("aria-label")):
        assert not re.search("[\u0000-\u0008\u202a-\u202e\u2028\u2029]", word or "")


def ranking(found: Sequence[str], title: str) -> str | None:
    named = zip(entries(*(1 / (n + 1) for n in range(len(found)))), found, strict=True)
    return draw_ranking([replace(entry, name=name) for entry, name in named], title, "number")


def heatmap(found: Sequence[str], title: str) -> str | None:
    facts = ["found", "contradicted"] * len(found)
    return draw_heatmap(dict.fromkeys(found, facts), [(name, 2) for name in found], title)


def profile(found: Sequence[str], title: str) -> str | None:
    return draw_profile([(n, FigureCell(0.5)) for n in found], {n: [0.2] for n in found}, title)


def scatter(found: Sequence[str], title: str) -> str | None:
    points = [{"x": x, "y": x * n, "series": s} for n, s in enumerate(found) for x in (1, 2, 3)]
    return draw_scatter(points, title, title, title, "s")


def bars(found: Sequence[str], title: str) -> str | None:
    rows = [{"name": name, "value": n, "low": 0, "high": n} for n, name in enumerate(found)]
    return draw_bars(rows, title, title, "b")


Draw = Callable[[Sequence[str], str], str | None]
PICTURES: tuple[Draw, ...] = (ranking, heatmap, profile, scatter, bars)


@pytest.mark.parametrize("draw", PICTURES)
def test_a_picture_shows_every_name_as_it_is(draw: Draw) -> None:
    """Whatever a name means to the program that draws."""
    for some in (NAMES[:25], NAMES[25:]):  # a legend has room for thirty
        shown = words(drawn(draw(some, "x")))
        assert {" ".join(name.split()) for name in some} <= set(shown)


@pytest.mark.parametrize("draw", PICTURES)
@pytest.mark.parametrize("name", ["constructor", "__proto__"])
def test_a_strange_name_moves_no_mark(draw: Draw, name: str) -> None:
    """A picture of a strange name has the marks of a usual one."""

    def marks(name: str) -> list[tuple[str | None, ...]]:
        paths = drawn(draw([name, "~"], "x")).iter(f"{SVG}path")
        coloured = ("fill", "stroke", "transform", "d")
        return [tuple(map(path.get, coloured)) for path in paths if "--" in str(path.attrib)]

    assert marks(name)
    assert marks(name) == marks("usual")


@pytest.mark.parametrize("title", ["constructor", "a\u202eb"])
@pytest.mark.parametrize("draw", [ranking, scatter, bars])
def test_an_axis_may_have_any_title(draw: Draw, title: str) -> None:
    shown = words(drawn(draw(["a", "b"], title)))
    assert title.replace("\u202e", "⟨U+202E⟩") in shown


def test_names_that_begin_alike_stay_apart() -> None:
    alike = [f"{'Same long beginning of a name ' * 3}{n}" for n in range(3)]
    cells = {name: ["found"] for name in alike}
    rows = [{"name": name, "value": n, "low": None, "high": None} for n, name in enumerate(alike)]
    for picture in (draw_heatmap(cells, [("Lead", 1)], "x"), draw_bars(rows, "Share", "x", "b")):
        shown = [word for word in words(drawn(picture)) if word.startswith("Same long")]
        assert len(set(shown)) == 3


def test_every_fact_of_every_agent_is_drawn() -> None:
    facts = [*HEAT, *HEAT]
    picture = draw_heatmap({"a": facts, "b": facts[::-1]}, [("Lead", 3), ("Rest", 5)], "x")
    root = drawn(picture)
    for colour in HEAT.values():
        assert len(root.findall(f".//{SVG}path[@fill='{colour}']")) >= 2
    assert "8 facts in 2 sections by 2 agents" in str(root.get("aria-label"))


def test_a_ranking_names_all_that_have_a_figure_and_the_first() -> None:
    root = drawn(draw_ranking(entries(0.5, 0.25, None), "Coverage", "share"))
    assert [w for w in words(root) if w.startswith("Agent")] == ["Agent 0", "Agent 1"]
    assert "Agent 0 is first with 50.0" in str(root.get("aria-label"))


def test_without_figures_there_is_no_picture() -> None:
    assert draw_ranking(entries(None, None), "Coverage", "share") is None
    assert draw_profile([("Coverage", FigureCell(None))], {"Coverage": []}, "Agent") is None


def test_two_pictures_of_a_page_share_no_id() -> None:
    found = [
        draw_ranking(entries(0.5), "Coverage", "share"),
        draw_scatter([{"x": x, "y": x, "series": "a"} for x in (1, 2)], "x", "y", "d", "s"),
        draw_profile([("Coverage", FigureCell(0.5))], {"Coverage": [0.2]}, "Agent"),
    ]  # fmt: skip
    ids = [e.get("id") for picture in found for e in drawn(picture).iter() if e.get("id")]
    assert len(set(ids)) == len(ids)


def test_the_same_figures_give_the_same_picture() -> None:
    assert draw_ranking(entries(0.5, 0.25), "c", "share") == draw_ranking(
        entries(0.5, 0.25), "c", "share"
    )
