"""A column of a board is one entry: the terminal, JSON, CSV and the site show it by its name."""

import csv
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from tasks.publishing.site import build_site
from tasks.scoring import columns
from tasks.scoring.columns import COST, REPORTS, BoardAgent, BoardColumn
from tasks.site.content import CellText
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import Readable
from tests.flows.conftest import Evergreen

BOARD = ("leaderboard", "--edition", "sample", "--protocol", "wiki_fact", "--warehouse")


def count_letters(source: Readable, edition: str, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(letters=pl.col("agent").str.len_chars().cast(pl.Int64))


def letters_of(agent: BoardAgent) -> CellText:
    return CellText(str((agent.counted or {}).get("letters", "none")), 0)


LETTERS = BoardColumn(
    "letters", "Letters", "Letters of its name", cell=letters_of, short="Let.", add=count_letters
)


@pytest.fixture(params=["first", "last"])
def columned(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, small: Path, tmp_path: Path
) -> Path:
    """A judged edition whose boards have one more column, at either end of the others."""
    ours = (LETTERS, COST, REPORTS) if request.param == "first" else (COST, REPORTS, LETTERS)
    for reader in (
        columns.__name__,
        "tasks.publishing.boards",
        "tasks.publishing.board_parts",
        "flows.display.leaderboard",
    ):
        monkeypatch.setattr(f"{reader}.COLUMNS", ours)
    return Path(shutil.copy(small, tmp_path / "warehouse.duckdb"))


def test_the_terminal_and_scripts_show_it(columned: Path, evergreen: Evergreen) -> None:
    _, table, _ = evergreen(*BOARD, columned)
    assert "Let." in table
    _, listed, _ = evergreen(*BOARD, columned, "--format", "json")
    found = {(row["agent"], row["letters"]) for row in json.loads(listed)}
    assert found == {(agent, len(agent)) for agent, _ in found} != set()
    _, text, _ = evergreen(*BOARD, columned, "--format", "csv")
    assert {
        (row["agent"], int(row["letters"])) for row in csv.DictReader(text.splitlines())
    } == found


def test_the_site_shows_it_and_its_parts_find_their_cells_by_name(
    columned: Path, tmp_path: Path
) -> None:
    with open_for_reading(columned) as store:
        build_site(store, "sample", tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    board = page[page.index("<thead>") : page.index("</table>")]
    head, body = board.split("</thead>")
    named = [
        found[1] if (found := re.search('data-column="([^"]+)"', th)) else ""
        for th in re.findall(r"<th .*?</th>", head)
    ]
    cells = [re.findall(r"<t[hd] .*?</t[hd]>", row, re.S) for row in body.split("</tr>")[:-1]]
    assert named.count("letters") == 1
    assert all(len(row) == len(named) for row in cells)
    shown = [re.sub("<.*?>", "", row[named.index("letters")]) for row in cells]
    agents = re.findall('data-agent="([^"]+)"', body)
    assert shown == [str(len(agent)) for agent in agents]

    script = (tmp_path / "site" / "data" / "parts" / "board-0.js").read_text("utf-8")
    file = json.loads(script[script.index("{") : script.rindex("}") + 1])
    assert set(file["columns"]) == set(named) - {"", "cost", "letters"}
    for part in file["parts"].values():
        assert all(len(row["cells"]) == len(file["columns"]) for row in part["rows"])
        assert {row["cells"][file["columns"].index("reports")][0] for row in part["rows"]} <= {
            "0", "1 of 1",
        }  # fmt: skip


def test_no_script_knows_a_column_by_its_place() -> None:
    script = Path("tasks/site/assets/site.js").read_text("utf-8")
    assert not re.search(r"cells(\[\d|\[n [+-]|\.at\()", script)
