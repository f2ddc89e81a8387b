"""The baseline reads a snapshot's pages, and nothing else of it."""

import json
import subprocess
import sys
from pathlib import Path

from tests.tasks.agents.archives import write_archive
from tests.tasks.agents.baseline.test_program import TITLE, ask


def test_nothing_of_the_snapshot_but_the_pages_changes_what_it_writes(tmp_path: Path) -> None:
    alone = ask(tmp_path / "one", write_archive(tmp_path / "alone"))
    whole = write_archive(tmp_path / "whole")
    for name in ("articles", "facts", "reports", "claims", "citations", "verdicts"):
        (whole / f"{name}.parquet").write_text("opened by mistake")
    assert ask(tmp_path / "two", whole) == alone


OPENED = """
import json, runpy, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
sys.argv = ["baseline"]
try:
    runpy.run_module("tasks.agents.baseline", run_name="__main__")
except SystemExit as ended:
    json.dump([ended.code, opened], open("opened.json", "w"))
"""


def test_it_opens_no_other_file_of_a_snapshot(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "archive")
    for name in ("articles", "facts", "reports"):
        (archive / f"{name}.parquet").write_text("the answer")
    told = tmp_path / "assignment.json"
    told.write_text(json.dumps({"title": TITLE, "kind": "write_article"}))
    places = {"EVERGREEN_ASSIGNMENT": told, "EVERGREEN_ARCHIVE": archive,
              "EVERGREEN_CACHE": tmp_path / "cache"}  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", OPENED], cwd=tmp_path, check=True, capture_output=True,
        env={name: str(path) for name, path in places.items()}, timeout=60,
    )  # fmt: skip
    code, opened = json.loads((tmp_path / "opened.json").read_text())
    assert code == 0
    assert {name for name in opened if name.startswith(str(archive))} == {
        str(archive / "pages.parquet")
    }


def test_what_is_missing_from_its_environment_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tasks.agents.baseline"],
        cwd=tmp_path, env={}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("baseline: EVERGREEN_ASSIGNMENT is not set")
