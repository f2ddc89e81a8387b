"""Evaluations of an edition in which one report is a scan, from the command to the leaderboard."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import (
    KINDS,
    MODEL,
    at_hand,
    configured,
    evaluate,
    rows,
    value,
    write_configs,
)
from tests.guarantees.tasks.judging.test_scan_cells import PDF, scan
from tests.tasks.annotated import OTHER
from tests.tasks.models.batching import QUICK
from tests.tasks.models.test_attachments import PAGES

ARTICLE = "Eddystone_Lighthouse"
OF_SCAN = f"agent = '{OTHER}' AND assignment = '{ARTICLE}'"


@pytest.fixture(scope="module")
def folder(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Holds a warehouse with one scanned report; the judges of the tests see PDFs."""
    folder = tmp_path_factory.mktemp("scans")
    with configured(write_configs(folder, reads=["pdf"])):
        path = folder / "prepared.duckdb"
        shutil.copy(small, path)
        with open_warehouse(path) as warehouse:
            scan(warehouse, PDF, assignment=ARTICLE)
        yield folder


def copied(folder: Path, name: str) -> Path:
    shutil.copytree(folder / "files" / "prepared", folder / "files" / name)
    return Path(shutil.copy(folder / "prepared.duckdb", folder / f"{name}.duckdb"))


@pytest.mark.parametrize(
    ("kind", "batch"), [("gemini", False), ("gemini", True), ("openai", False)]
)
def test_a_judge_that_sees_judges_it_once_by_its_file(
    kind: str, batch: bool, folder: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.models.batch_sender.BatchTiming", lambda: QUICK)
    path = copied(folder, f"{kind}_{batch}")
    server = KINDS[kind][1]()
    chosen = {"agents": [OTHER], "protocols": ["wiki_writing", "wiki_fact"], "batch": batch}
    with at_hand(server, kind):
        state = evaluate(path, kind, **chosen)
        assert state.name == "Completed", state.message
        shown = [entry for entry in server.log.entries if entry.files]
        assert len(shown) == 3
        assert {file.n_bytes for entry in shown for file in entry.files} == {len(PAGES)}
        asked = len(server.log.entries)
        again = evaluate(path, kind, **chosen)
        assert (again.name, len(server.log.entries)) == ("Cached", asked)
    assert value(path, f"SELECT count(*) FROM verdicts WHERE judge = '{kind}' AND status = 'ok' "
                 f"AND {OF_SCAN} AND protocol = 'wiki_writing'") == 39  # fmt: skip
    found = value(path, f"SELECT count(*) FROM calls WHERE model = '{MODEL}' "
                  "AND contains(prompt, '[application/pdf, 3 pages')")  # fmt: skip
    assert found == 3
    states = rows(path, "SELECT DISTINCT protocol, state, value IS NULL FROM scores "
                  f"WHERE judge = '{kind}' AND {OF_SCAN} AND metric IN ('writing_overall', "
                  "'coverage_wiki') ORDER BY protocol")  # fmt: skip
    assert states == [("wiki_fact", "not_assessed", True), ("wiki_writing", "done", False)]
    code, said, _ = evergreen("status", "--warehouse", path, "--judge", kind, "--format", "json")
    assert code == 0
    stages = {row["stage"]: row for row in json.loads(said)}
    assert stages["verdicts wiki_fact"]["final"] == 1
    assert stages["verdicts wiki_writing"]["final"] == 0


def test_the_offline_judge_leaves_it_out_and_says_over_how_many_its_figures_are(
    sample: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    path = Path(shutil.copy(sample, tmp_path / "warehouse.duckdb"))
    with open_warehouse(path) as warehouse:
        scan(warehouse, PDF, assignment=ARTICLE)
    state = evaluate(path, "offline")
    assert state.name == "Completed", state.message
    n_reports = dict(
        rows(path, "SELECT agent, n_reports FROM leaderboard WHERE metric = 'coverage_wiki' "
             "AND judge = 'offline'")
    )  # fmt: skip
    assert n_reports[OTHER] == max(n_reports.values()) - 1 > 0
    assert rows(path, f"SELECT count(*), sum(n_items) FROM scores WHERE {OF_SCAN} "
                "AND value IS NOT NULL") == [(0, None)]  # fmt: skip
    assert not value(path, "SELECT bool_or(provisional) FROM leaderboard "
                     f"WHERE agent = '{OTHER}' AND metric = 'coverage_wiki'")  # fmt: skip
    code, said, _ = evergreen("status", "--warehouse", path, "--format", "json")
    assert code == 0
    stages = {row["stage"]: row for row in json.loads(said)}
    assert stages["claims"]["final"] + stages["claims"]["done"] > 0
    assert stages["claims"]["pending"] == stages["verdicts wiki_fact"]["pending"] == 0
    assert stages["verdicts wiki_fact"]["final"] == 1
