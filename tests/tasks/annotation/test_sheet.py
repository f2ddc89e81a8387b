"""Drawing and blinding: everything follows from the seed, nothing hidden shows."""

from dataclasses import replace

from tasks.annotation.sheet import SheetSubject, SubjectTexts, draw_subjects
from tasks.annotation.sheets import render_page
from tests.tasks.annotation.sheets import sheet_of, subject

AGENTS = ("secret_one", "secret_two")
MANY = [subject(agent, f"a{n}", "clear?", "fair?") for agent in AGENTS for n in range(40)]


def test_the_same_seed_gives_the_same_sheet_in_whatever_order_its_subjects_come() -> None:
    one, other = sheet_of(*MANY, size=9, seed=7), sheet_of(*MANY[::-1], size=9, seed=7)
    assert render_page(one) == render_page(other)
    # Pinned: a sheet people are working on must not change under a new version.
    assert one.name == "criteria-5d4fd6e9"


def test_another_seed_draws_and_orders_anew() -> None:
    one, other = sheet_of(*MANY, size=9, seed=1), sheet_of(*MANY, size=9, seed=2)
    assert one.name != other.name
    assert [i.assignment for i in one.items] != [i.assignment for i in other.items]


def test_a_sample_is_spread_evenly_over_the_agents() -> None:
    few = [s for s in MANY if s.agent == "secret_one"][:3] + [
        s for s in MANY if s.agent == "secret_two"
    ]
    drawn = draw_subjects(few, 6, seed=3)
    assert sorted(s.agent for s in drawn) == ["secret_one"] * 3 + ["secret_two"] * 3


def test_subjects_that_are_not_drawn_are_not_read() -> None:
    read: list[str] = []

    def noted(name: str) -> SheetSubject:
        made = subject("a", name, "clear?")

        def show() -> SubjectTexts:
            read.append(name)
            return made.load_texts()

        return replace(made, load_texts=show)

    sheet_of(*(noted(f"a{n}") for n in range(30)), size=4)
    assert len(read) == 4


def test_sides_are_swapped_about_half_of_the_time_and_the_texts_with_them() -> None:
    panels = sheet_of(*MANY).panels
    first = [panel.items[0].left_side for panel in panels]
    assert 25 < first.count("report") < 55
    for panel in panels:
        shown = {"reference": "the article", "report": "the report"}[panel.items[0].left_side]
        assert panel.texts[0].text == shown
        assert [text.heading for text in panel.texts] == ["First text", "Second text"]


def test_the_page_does_not_tell_which_agent_or_side_stands_behind_an_item() -> None:
    sheet = sheet_of(*MANY, size=12)
    page = render_page(sheet)
    assert "secret" not in page
    assert "left_side" not in page
    hidden = {(i.left_side, i.right_side) for i in sheet.items}
    assert hidden == {("reference", "report"), ("report", "reference")}


def test_item_ids_are_unique_and_no_spreadsheet_takes_them_for_numbers() -> None:
    ids = [item.item_id for item in sheet_of(*MANY).items]
    assert len(set(ids)) == len(ids) == 160
    assert all(item_id[0] == "q" for item_id in ids)


def test_items_are_numbered_in_the_order_in_which_they_are_asked() -> None:
    sheet = sheet_of(*MANY, size=5)
    assert [item.number for item in sheet.items] == list(range(1, 11))
