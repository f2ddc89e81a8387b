"""Commands on a warehouse whose log was cut: they say so, and nothing is bought a second time."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.models.errors import StopStage
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.write_counter import count_path
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, value
from tests.flows.plain_evaluation import evaluate_plainly
from tests.servers.gemini import GeminiServer

pytestmark = pytest.mark.file_only
CALLS = "SELECT count(*) FROM calls"


@pytest.fixture(scope="module")
def server(judges: Path) -> Iterator[GeminiServer]:
    """A model that a judge asks."""
    server = GeminiServer()
    with at_hand(server, "gemini"):
        yield server


@pytest.fixture(scope="module")
def killed(
    server: GeminiServer, sample: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """What is left of a warehouse whose process is killed after judging, and its paid calls."""
    folder = tmp_path_factory.mktemp("killed")
    path = Path(shutil.copy(sample, folder / "w.duckdb"))
    (folder / "left").mkdir()
    with open_warehouse(path) as store:
        judge(path)
        for file in folder.glob("w.duckdb*"):
            shutil.copy(file, folder / "left")
        return folder / "left" / "w.duckdb", store.value(CALLS)


def judge(path: Path) -> None:
    evaluate_plainly(path, ("wiki_fact",), ("sample_scholar",), "gemini")


@pytest.fixture
def cut(killed: tuple[Path, int], tmp_path: Path) -> Path:
    """It, with half of its log."""
    shutil.copytree(killed[0].parent, tmp_path / "cut")
    log = tmp_path / "cut" / "w.duckdb.wal"
    os.truncate(log, log.stat().st_size // 2)
    return tmp_path / "cut" / "w.duckdb"


def test_a_whole_log_is_no_reason_to_say_or_to_buy_anything(
    server: GeminiServer, killed: tuple[Path, int], tmp_path: Path, evergreen: Evergreen
) -> None:
    path = shutil.copytree(killed[0].parent, tmp_path / "whole") / "w.duckdb"
    before = server.log.summary()["requests"]
    assert "missing" not in evergreen("status", "--warehouse", path)[2]
    judge(path)
    assert server.log.summary()["requests"] == before
    assert value(path, CALLS) == killed[1]


def test_paid_answers_that_are_missing_are_not_bought_again_unasked(
    server: GeminiServer, killed: tuple[Path, int], cut: Path
) -> None:
    before = server.log.summary()["requests"]
    with pytest.raises(StopStage, match=r"committed writes are missing.*nothing is bought"):
        judge(cut)
    assert server.log.summary()["requests"] == before
    left = value(cut, CALLS)
    assert left < killed[1]
    count_path(cut).unlink()
    judge(cut)
    assert server.log.summary()["requests"] == before + killed[1] - left
    assert value(cut, CALLS) == killed[1]


@pytest.mark.parametrize(
    "command",
    [
        ("status",), ("sql", "SELECT 1"), ("--quiet", "leaderboard", "--edition", "sample"),
        ("edition", "list"), ("compact",), ("backup", "--to", "b.tar"), (),
    ],
)  # fmt: skip
def test_every_command_says_it_once(
    cut: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(cut.parent)
    monkeypatch.setenv("EVERGREEN_WAREHOUSE", str(cut))
    for _ in range(2):
        _, _, remarks = evergreen(*command)
        (cut.parent / "b.tar").unlink(missing_ok=True)
        assert remarks.count("committed writes are missing") == 1
        assert str(count_path(cut)) in remarks


def test_the_newest_backup_is_named_and_restoring_it_ends_the_warning(
    killed: tuple[Path, int], tmp_path: Path, evergreen: Evergreen
) -> None:
    path = shutil.copytree(killed[0].parent, tmp_path / "backed up") / "w.duckdb"
    assert evergreen("backup", "--to", tmp_path / "b", "--warehouse", path)[0] == 0
    with open_warehouse(path) as store:
        store.write(Change(Edition, [Edition(edition="later", source="test")]))
        lost = shutil.copytree(path.parent, tmp_path / "lost") / "w.duckdb"
    lost.with_name("w.duckdb.wal").unlink()
    at = ("--warehouse", lost)
    assert f"`evergreen backup restore {tmp_path / 'b'} --replace" in evergreen("status", *at)[2]
    assert evergreen("backup", "restore", tmp_path / "b", "--replace", *at)[0] == 0
    assert "missing" not in evergreen("status", *at)[2]
    assert "missing" not in evergreen("doctor", "--offline", *at)[1]
    assert value(lost, CALLS) == killed[1]
