"""What comes back: exactly what was filled in, or a clear word about what is wrong."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.annotation.sheet import Sheet
from tasks.annotation.table import AnnotationError, read_table
from tasks.spreadsheets import escape_formula, unescape_formula
from tests.tasks.annotation.sheets import filled, read_back, sheet_of, subject

TEXT = st.text(max_size=40) | st.sampled_from(
    [
        '=HYPERLINK("http://evil")',
        "+1",
        "-1",
        "@cmd",
        "'=x",
        "''",
        'a,"b"\r\nc;d\te',
        "＝1",
        "日本 🦆",
    ]
)


@pytest.fixture
def sheet() -> Sheet:
    return sheet_of(subject("one", "x", "clear?", "fair?"), subject("two", "x", "clear?", "fair?"))


@settings(deadline=None, max_examples=60)
@given(
    criteria=st.lists(TEXT, min_size=1, max_size=4, unique=True),
    said=st.lists(st.tuples(st.sampled_from(["first", "second", "tie", ""]), TEXT), min_size=4),
    seed=st.integers(0, 50),
)
def test_what_was_filled_in_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory,
    criteria: list[str],
    said: list[tuple[str, str]],
    seed: int,
) -> None:
    sheet = sheet_of(subject("agent", "x", *criteria), seed=seed)
    by_id = dict(zip((item.item_id for item in sheet.items), said, strict=False))
    path = filled(sheet, tmp_path_factory.mktemp("sheet") / "filled.csv", by_id)
    found = {a.item.item_id: (a.label, a.reason) for a in read_back(sheet, path)}
    behind = {item.item_id: (item.left_side, item.right_side) for item in sheet.items}
    assert found == {
        item_id: (
            {"first": behind[item_id][0], "second": behind[item_id][1], "tie": "tie"}[label],
            reason or None,
        )
        for item_id, (label, reason) in by_id.items()
        if label
    }


@given(TEXT)
def test_an_inert_cell_is_no_formula_and_is_restored(text: str) -> None:
    cell = escape_formula(text)
    number = re.fullmatch(r"[+-]?[0-9][0-9.,eE+-]*%?", cell)  # runs nothing
    assert number or cell[:1] not in {*"=+-@\t\r\n＝＋－＠"} or not cell
    assert unescape_formula(cell) == text


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_file_saved_by_another_spreadsheet_is_read(
    sheet: Sheet, tmp_path: Path, separator: str
) -> None:
    path = tmp_path / "filled.csv"
    item = sheet.items[0]
    lines = (
        ["number", "item_id", "asked", "label", "reason"],
        [str(item.number), item.item_id, item.asked, " First ", "because"],
    )
    path.write_text("\n".join(separator.join(cells) for cells in lines), "utf-8")
    assert [(a.label, a.reason) for a in read_back(sheet, path)] == [(item.left_side, "because")]


def test_an_item_left_blank_is_passed_over(sheet: Sheet, tmp_path: Path) -> None:
    said = {sheet.items[2].item_id: ("tie", "")}
    assert len(read_back(sheet, filled(sheet, tmp_path / "f.csv", said))) == 1


@pytest.mark.parametrize(
    ("label", "columns", "says"),
    [
        ("third", {}, r"f\.csv: row 2, column label: expected first, sec"),
        ("", {"item_id": "q1"}, "row 2, column item_id: “q1” is not an item of"),
        ("", {"asked": "is it short?"}, r"row 2, column asked: expected “\w+\?”, found “is"),
        ("", {"number": "4"}, "row 2, column number: expected 1 beside"),
    ],
    ids=["another label", "of another sheet", "a changed question", "mixed up"],
)
def test_what_does_not_belong_there_is_told_by_row_and_column(
    sheet: Sheet, tmp_path: Path, label: str, columns: dict[str, str], says: str
) -> None:
    path = filled(sheet, tmp_path / "f.csv", {sheet.items[0].item_id: (label, "")}, columns)
    with pytest.raises(AnnotationError, match=says):
        read_back(sheet, path)


def test_one_item_with_two_labels_is_told_and_with_the_same_label_twice_is_not(
    sheet: Sheet, tmp_path: Path
) -> None:
    item = sheet.items[0].item_id
    path = filled(sheet, tmp_path / "f.csv", {item: ("first", "")})
    again = filled(sheet, tmp_path / "g.csv", {item: ("tie", "")}).read_text("utf-8-sig")
    row = again.split("\n")[1]
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(row.replace('"tie"', '"first"') + "\r\n")
    assert len(read_back(sheet, path)) == 1
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(row + "\r\n")
    with pytest.raises(AnnotationError, match=r"row 7, column label: .* another answer in row 2"):
        read_back(sheet, path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"", "column number, item_id, asked, label, reason is missing"),
        (b"number,item_id,asked,reason\n", "row 1: column label is missing"),
        ("Königsberg".encode("latin-1"), "not UTF-8; save it as"),
    ],
)
def test_a_file_that_is_no_sheet_is_told(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "f.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AnnotationError, match=said):
        read_table(path, ("number", "item_id", "asked", "label", "reason"))
