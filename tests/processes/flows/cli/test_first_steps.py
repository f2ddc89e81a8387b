"""What a stranger meets first: names, keys, counts, and a disk that is full."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli.hints import print_unchosen, warn_about_outdated_site
from flows.display.console import STDERR
from flows.display.formats import Format
from flows.display.leaderboard import print_leaderboard
from tasks.base import format_count
from tasks.judging.protocols import choose_protocols
from tasks.planning.stages import count_stages
from tasks.scoring.extractors import describe_extractors
from tasks.site.mark import MARK
from tasks.warehouse.operations import Publication
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.sample_edition import PART
from tests.tasks.annotated import judged, sample_warehouse

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


def test_one_is_not_many(evergreen: Evergreen, warehouse: Path) -> None:
    assert (format_count(1, "row"), format_count(2000, "row")) == ("1 row", "2,000 rows")
    assert format_count(0, "analysis", "analyses") == "0 analyses"
    _, out, _ = evergreen("sql", "SELECT 1", "--warehouse", warehouse)
    assert out.endswith("1 row\n")


def test_judges_without_their_key_are_listed_and_no_key_is_shown(
    evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    _, out, _ = evergreen("judges")
    assert "GEMINI_API_KEY not set: gemini-3.8-flash, " in out
    assert "OPENAI_API_KEY" not in out
    code, listed, _ = evergreen("judges", "--format", "json")
    keys = {row["judge"]: row["key"] for row in json.loads(listed)}
    assert (code, "sk-secret" in out + listed) == (0, False)
    assert keys["offline (default)"] is None
    assert keys["gpt-5.5"] == "OPENAI_API_KEY set"
    assert keys["gemini-3.8-flash"] == "GEMINI_API_KEY not set"


@pytest.mark.parametrize("words", [("sql", "SELECT 1"), ("edition", "list", "--format", "json")])
def test_a_full_disk_is_one_line(warehouse: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "flows", *words, "--warehouse", str(warehouse)],
            cwd=ROOT,
            env=dict(os.environ),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: cannot write: No space left on device.\n"


def test_a_full_disk_is_said_plainly_and_a_later_run_goes_on(tmp_path: Path) -> None:
    # A limit on the size of files stands in for a full disk: both end in a failed write.
    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    command = [sys.executable, "-m", "flows", "import", "wlc", str(PART), "--warehouse",
               str(tmp_path / "w.duckdb")]  # fmt: skip
    failed = subprocess.run(
        command, preexec_fn=full, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert failed.returncode == 1
    assert "no room left on the disk" in failed.stderr
    assert "Traceback" not in failed.stderr
    again = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert again.returncode == 0, again.stderr
    assert "9 reports" in again.stderr


def test_status_and_leaderboard_name_the_extractors(
    evergreen: Evergreen, warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_warehouse(warehouse) as store:
        said = describe_extractors(store, "sample")
        assert said.startswith("Facts: published with the edition.")
        print_leaderboard(store, "sample", Format.TABLE)
    board = capfd.readouterr().out
    _, status, _ = evergreen("status", "--edition", "sample", "--warehouse", warehouse)
    for shown in (board, status):
        assert said in " ".join(shown.split())


def test_what_status_counts_and_evaluate_leaves_is_named(
    warehouse: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STDERR, "quiet", False)
    with open_warehouse(warehouse) as store:
        judged(store, "offline", {}, protocol="reader")
        [left] = [
            each.pending
            for each in count_stages(store, "sample", "offline")
            if each.stage == "verdicts reader"
        ]
        assert left > 1
        print_unchosen(store, "sample", "offline", ["reader"])
        assert capfd.readouterr().err == ""
        print_unchosen(store, "sample", "offline", choose_protocols(store, "sample"))
    assert capfd.readouterr().err == (
        f"reader has {left} pending cells, and judges sample only when it is named: "
        "evergreen evaluate --edition sample --protocol reader\n"
    )


def test_what_others_are_judged_by_and_a_new_agent_is_not_is_named(
    warehouse: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STDERR, "quiet", False)
    with open_warehouse(warehouse) as store:
        judged(store, "offline", {}, protocol="reader")
        print_unchosen(store, "sample", "offline", ["wiki_fact"], ["sample_sketch"])
    assert capfd.readouterr().err == (
        "reader has 3 pending cells of sample_sketch, and judges sample only when it is named: "
        "evergreen evaluate --edition sample --agent sample_sketch --protocol reader\n"
    )


def test_a_site_with_older_figures_is_named(
    warehouse: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(STDERR, "quiet", False)
    site = tmp_path / "site"
    site.mkdir()
    (site / MARK).write_text('{"edition": "sample", "judges": ["offline"]}', "utf-8")
    row = Publication(edition="sample", folder=str(site))
    with open_warehouse(warehouse) as store:
        warn_about_outdated_site(store, "sample")
        assert capfd.readouterr().err == ""
        store.write(Change(Publication, [row]))
        warn_about_outdated_site(store, "sample")
    assert capfd.readouterr().err == (
        f"The site in {site} shows older figures: evergreen publish --to {site}\n"
    )
