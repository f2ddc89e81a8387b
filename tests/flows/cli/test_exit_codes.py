"""Exit codes say what the help says they do, also for commands that fail."""

from pathlib import Path

import pytest

from tests.flows.conftest import Evergreen
from tests.tasks.annotated import sample_warehouse

ROOT = Path(__file__).resolve().parents[3]
ON_DAMAGED = [
    ("agents", "jobs"),
    ("analyse", "--edition", "sample"),
    ("backup", "--to", "backups"),
    ("calls",),
    ("compact",),
    ("compare", "judges", "--edition", "sample"),
    ("compare", "protocols", "--edition", "sample"),
    ("doctor", "--offline"),
    ("edition", "list"),
    ("evaluate", "--edition", "sample"),
    ("evaluate", "--estimate", "--edition", "sample", "--judge", "local"),
    ("explain", "a/b"),
    ("import", "wlc", str(ROOT / "data" / "sample")),
    ("leaderboard", "--edition", "sample"),
    ("pages", "references", "--edition", "sample"),
    ("backup", "restore", "{backup}"),
    ("sql", "SELECT 1"),
    ("status",),
]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


@pytest.mark.file_only
@pytest.mark.parametrize("command", ON_DAMAGED, ids=" ".join)
def test_a_damaged_warehouse_is_exit_code_1_in_words(
    evergreen: Evergreen, warehouse: Path, command: tuple[str, ...], tmp_path: Path
) -> None:
    backup = tmp_path / "b.tar"
    if "{backup}" in command:
        assert evergreen("backup", "--to", backup, "--warehouse", warehouse)[0] == 0
    warehouse.write_bytes(b"no database" * 1000)
    given = (str(tmp_path / each) if each == "backups" else each.format(backup=backup)
             for each in command)  # fmt: skip
    code, said, remarks = evergreen(*given, "--warehouse", warehouse)
    assert code == 1
    assert "not a readable warehouse" in " ".join((said + remarks).split())
    assert "Traceback" not in remarks
    assert warehouse.read_bytes() == b"no database" * 1000


def test_an_address_that_is_none_is_wrong_usage(evergreen: Evergreen) -> None:
    assert evergreen("--warehouse", "ducklake:nothing", "status")[0] == 2
