"""The counts of cited claims as people and programs read them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flows.display.formats import Format
from flows.display.references import print_references
from tasks.judges.decisions import Judge
from tasks.judges.offline.judge import OfflineJudge
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import EDITION, judge_all, page, write_edition

Said = Callable[[str | None, Format], tuple[str, str]]


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """A claim with a page that supports it, one that cites nothing, one before a bot wall."""
    wall = page("https://b.org", status="bot_wall", error="a test for robots")
    claims = [("The tower is red.", ["https://a.org"]), ("It is old.", []),
              ("It is tall.", ["https://b.org"])]  # fmt: skip
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        write_edition(opened, {"agent": claims}, [page("https://a.org", "The tower is red."), wall])
        yield opened


@pytest.fixture
def said(warehouse: Warehouse, capfd: pytest.CaptureFixture[str]) -> Said:
    def printed(judge: str | None, form: Format) -> tuple[str, str]:
        print_references(warehouse, EDITION, judge, form)
        found = capfd.readouterr()
        return found.out, found.err

    return printed


def cells_below(table: str, heading: str) -> str:
    """The first agent's row in the table with this heading."""
    lines = table.splitlines()
    at = next(number for number, line in enumerate(lines) if heading in line)
    row = next(line for line in lines[at:] if line.strip().startswith("agent "))
    return " ".join(row.split())


@pytest.mark.parametrize(("judge", "conflict"), [(ScriptedJudge(), "0"), (OfflineJudge(), "–")])
def test_both_denominators_stand_beside_their_shares(
    judge: Judge, conflict: str, warehouse: Warehouse, said: Said
) -> None:
    judge_all(warehouse, judge)
    table, _ = said(judge.name, Format.TABLE)
    assert cells_below(table, "Uncited") == "agent 1 3 0 1 2 0 1 0 1"
    assert cells_below(table, "Ref. acc.") == f"agent 1 {conflict} {conflict} 0 50.0 2 100.0 1 0"
    assert cells_below(table, "Walled") == "agent 1 1"
    assert "Missing, unknown" not in table


def test_programs_get_every_count(warehouse: Warehouse, said: Said) -> None:
    judge_all(warehouse, ScriptedJudge())
    (row,) = json.loads(said("scripted", Format.JSON)[0])
    assert (row["ref_acc"], row["counted_pairs"]) == (0.5, 2)
    assert (row["ref_acc_readable"], row["evaluated"]) == (1.0, 1)
    assert (row["uncited"], row["without_page"]) == (1, 1)


def test_a_judge_without_verdicts_is_named_with_the_command_that_makes_them(said: Said) -> None:
    answer, remark = said(None, Format.TABLE)
    assert answer == ""
    assert "evergreen evaluate --edition e --judge offline" in remark
    assert json.loads(said(None, Format.JSON)[0]) == []
