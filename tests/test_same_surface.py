"""The rig that compares what users see: what it masks, and what it finds."""

from pathlib import Path

import polars as pl

from tests.rigs.same_surface import MESSAGES, changes, mask, write
from tests.rigs.surface_commands import WRITTEN

DAYS = ("2026-11-28", "2026-11-29")


def test_moments_of_the_run_are_masked_and_those_of_the_data_are_not() -> None:
    said = "exported 2026-11-29 08:01:38 UTC into exports/20261129T080138.501034Z, of 2025-03-01"
    assert mask("x", said, DAYS[1]) == "exported <moment> into exports/<moment>, of 2025-03-01"


def test_temporary_folders_ports_and_random_ids_are_masked() -> None:
    said = "/tmp/tmpab12/x http://127.0.0.1:43123/api 4d84d346-c054-4b2c-802b-44e10e1a6ad8 a1b2c3"
    assert mask("x", said) == "<temporary> http://<host>:<port>/api <uuid> a1b2c3"


def made(folder: Path, *, day: str, said: str, value: float) -> Path:
    """A side with one message and one table."""
    write(folder / MESSAGES / "sample" / "status.txt", f"Made {day} 08:00 UTC\n{said}\nThe end\n")
    (folder / WRITTEN).mkdir()
    pl.DataFrame({"value": [value], "called_at": [day]}).write_parquet(
        folder / WRITTEN / "x.parquet"
    )
    return folder


def compare(tmp_path: Path, said: str, value: float, *excepted: str) -> list[str]:
    """What differs from a side that said `8 reports` and wrote 0.5."""
    before = made(tmp_path / "before", day=DAYS[0], said="8 reports", value=0.5)
    now = made(tmp_path / "now", day=DAYS[1], said=said, value=value)
    return changes(
        before, now, days=DAYS, published=False, without={"called_at"}, excepted=excepted
    )


def test_sides_that_differ_in_their_day_alone_are_equal(tmp_path: Path) -> None:
    assert compare(tmp_path, "8 reports", 0.5) == []


def test_a_changed_message_and_a_changed_row_are_found(tmp_path: Path) -> None:
    message, table = compare(tmp_path, "9 reports", 0.25)
    assert "messages/sample/status.txt" in message
    assert "-8 reports\n+9 reports" in message
    assert "-('0.5',)\n+('0.25',)" in table


def test_a_known_difference_hides_no_other(tmp_path: Path) -> None:
    (table,) = compare(tmp_path, "9 reports", 0.25, r"^[-+]\d reports$")
    assert "x.parquet" in table


def test_a_file_that_is_on_one_side_only_is_found(tmp_path: Path) -> None:
    before, now = tmp_path / "before", tmp_path / "now"
    write(before / WRITTEN / "site" / "keys.html", "")
    now.mkdir()
    (found,) = changes(before, now, days=DAYS, published=False)
    assert found == "only before: written/site/keys.html"
    assert not changes(before, now, days=DAYS, published=False, excepted=["/keys"])
