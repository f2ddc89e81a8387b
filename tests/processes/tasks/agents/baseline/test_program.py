"""The baseline reads a snapshot's pages, and nothing else of it."""

import json
import subprocess
import sys
from pathlib import Path

from tasks.agents.agent import JobAnswer, JobRequest
from tasks.agents.command.client import CommandClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders
from tasks.agents.registry import get_agent_entry
from tests.tasks.agents.archives import write_archive
from tests.tasks.agents.baseline.test_program import TITLE
from tests.tasks.agents.programs import run_program


def ask(tmp_path: Path, archive: Path, title: str = TITLE) -> JobAnswer:
    """As `evergreen` runs it: the entry of the project's own configuration."""
    entry = get_agent_entry("lexical_baseline").ask
    assert isinstance(entry, CommandAsk)
    client = CommandClient("lexical_baseline", entry, AgentFolders(tmp_path / "work", archive))
    asked = JobRequest.model_validate(
        {"job": "j", "edition": "e", "assignment": "a", "title": title, "kind": "write_article",
         "prompt": "Write it."}
    )  # fmt: skip

    return run_program(client, asked)


def test_nothing_of_the_snapshot_but_the_pages_changes_what_it_writes(tmp_path: Path) -> None:
    alone = ask(tmp_path / "one", write_archive(tmp_path / "alone"))
    assert (alone.outcome, alone.error, alone.cost_usd) == ("report", None, 0.0)
    assert alone.usage.searches == len(alone.trace)
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
