"""`evergreen sandbox` as a process: built, asked, ended; and the baseline that searches there."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
import pytest
import typer
from typer.testing import CliRunner

from flows.sandbox_cli import sandbox
from tasks.agents.agent import Answer, Question
from tasks.agents.command import CommandClient, read
from tasks.agents.kinds import Place
from tasks.configuration.agents import CommandAsk
from tests.tasks.sandbox.archives import COPY, MOVED, PAGES, TOWERS, WIKI, write_snapshot

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "flows", "sandbox"]
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Where a warehouse would be whose edition `e` was exported."""
    write_snapshot(tmp_path / "exports" / "w" / "e" / "latest")
    return tmp_path / "w.duckdb"


@contextmanager
def running(warehouse: Path, *options: str, **environment: str) -> Iterator[tuple[str, str]]:
    """The server's address, and what it has printed; at the end it gets Ctrl-C."""
    with subprocess.Popen(
        [*COMMAND, "--warehouse", str(warehouse), "--port", "0", *options],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"} | environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            said = "".join(until(process.stdout, "Try "))
            found = ADDRESS.search(said)
            assert found, process.communicate(timeout=10)[1]
            yield found[0], said
        finally:
            process.send_signal(signal.SIGINT)
            _, remarks = process.communicate(timeout=30)
        assert process.returncode == 0, remarks
        assert remarks.endswith("Ended.\n")


def until(lines: IO[str], word: str) -> Iterator[str]:
    """Lines up to the first that begins with a word; fewer if the process ends."""
    for line in lines:
        yield line
        if line.startswith(word):
            return


def test_it_builds_says_what_there_is_serves_and_ends_with_ctrl_c(warehouse: Path) -> None:
    first = subprocess.run(
        [*COMMAND, "--warehouse", str(warehouse), "--edition", "e", "--build-only"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "e: 7 pages in 7 passages" in first.stderr
    assert "(7 new or changed, 0 gone" in first.stderr
    [folder] = (warehouse.parent / "sandbox" / "w").glob("e-*[!k]")
    assert str(folder) in first.stderr
    with running(warehouse, "--edition", "e") as (address, said):
        assert f"{address}/mcp" in said
        [curl] = re.findall(r"'(http\S+)'", said)
        assert httpx.get(curl, trust_env=False).json()["query"] == "history"
        asked = {"query": "first lit in 1875", "format": "json"}
        found = httpx.get(f"{address}/search", params=asked, trust_env=False).json()["results"]
        assert found[0]["url"] == TOWERS


@pytest.mark.long
def test_what_no_assignment_may_use_can_be_left_out_for_all(warehouse: Path) -> None:
    with running(warehouse, "--edition", "e", "--without-banned") as (address, _):
        for url in (WIKI, COPY, MOVED, PAGES[3].url):
            assert httpx.get(f"{address}/fetch", params={"url": url}).status_code == 404
        assert httpx.get(f"{address}/fetch", params={"url": TOWERS}).status_code == 200


@pytest.mark.long
def test_a_corpus_is_served_with_the_bans_of_an_edition(warehouse: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    records = [{"url": url, "text": "A lighthouse."} for url in (WIKI, "https://new.example/x")]
    corpus.write_text("\n".join([*map(json.dumps, records), "no page"]))
    options = ("--edition", "e", "--corpus", str(corpus), "--assignment", "harrow")
    with running(warehouse, *options, "--api-key-env", "KEYS", KEYS="a, b") as (address, said):
        assert '-H "x-api-key: $KEY"' in said
        asked = {"query": "lighthouse", "format": "json"}
        found = httpx.get(f"{address}/search", params=asked, headers={"x-api-key": "b"}).json()
        assert [one["url"] for one in found["results"]] == ["https://new.example/x"]
        assert httpx.get(f"{address}/search", params=asked).status_code == 401


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say --edition, --corpus, or both"),
        (("--corpus", ".", "--assignment", "a"), "assignments belong to an edition"),
        (("--edition", "e", "--as-of", "soon"), "expected a day as 2025-11-30, not 'soon'"),
        (("--edition", "e", "--assignment", "x"), "e has no assignment 'x'"),
        (("--edition", "e", "--api-key-env", "NOT_SET"), "NOT_SET is not set or empty"),
        (("--edition", "e", "--api-key-env", "ODD"), "--api-key-env: a key in the variable"),
        (("--edition", "other"), "the edition has not been exported"),
        (("--corpus", "nowhere"), "there is no corpus"),
        (("--edition", "e", "--host", "192.0.2.1"), "cannot be listened on"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_built(
    warehouse: Path, options: tuple[str, ...], said: str
) -> None:
    app = typer.Typer()
    app.command()(sandbox)
    done = CliRunner().invoke(
        app,
        ["--warehouse", str(warehouse), *options],
        env={"COLUMNS": "200", "ODD": "a, schlüssel"},
    )
    assert "schlüssel" not in f"{done.output} {done.exception}"
    assert done.exit_code != 0
    assert said in " ".join(f"{done.output} {done.exception}".replace("│", " ").split())
    assert not list(warehouse.parent.glob("sandbox/w/e-*/current.json"))


def ask(place: Place, banned: tuple[str, ...] = ()) -> Answer:
    """The baseline's report on the lighthouse, searched over the sandbox."""
    entry = CommandAsk(
        kind="command",
        command=("{python}", "-m", "tasks.agents.baseline"),
        environment=("EVERGREEN_SANDBOX",),
    )
    client = CommandClient("sandbox_baseline", entry, place)
    question = Question(job="j", edition="e", assignment="harrow", title="Harrow Point Lighthouse",
                        kind="write_article", prompt="Write it.", banned=banned)  # fmt: skip

    async def run() -> Answer:
        seen = await client.start(question)
        while not seen.ended:
            await asyncio.sleep(0.1)
            seen = await client.look("j")
        return read(seen.raw or "")

    return asyncio.run(run())


@pytest.mark.long
def test_the_baseline_writes_from_the_sandbox_and_cites_nothing_that_is_not_there(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(warehouse, "--edition", "e") as (address, _):
        monkeypatch.setenv("EVERGREEN_SANDBOX", address)
        answer = ask(Place(tmp_path / "work", None))
    assert (answer.outcome, answer.error) == ("report", None)
    cited = set(re.findall(r"^\[\d+\] .* (https://\S+)$", answer.text, re.MULTILINE))
    assert len(cited) >= 2
    assert cited <= {page.url for page in PAGES}
    assert not cited & {WIKI, COPY, MOVED}
    assert answer.trace[0].query == "Harrow Point Lighthouse"
    assert "1874" in answer.text


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_curl_in_its_documentation_works(warehouse: Path) -> None:
    written = (ROOT / "docs" / "sandbox.md").read_text("utf-8")
    commands = re.findall(r"^    (curl .+)$", written, re.MULTILINE)
    assert len(commands) >= 6
    with running(warehouse, "--edition", "e") as (address, _):
        for command in commands:
            own = shlex.split(command.replace("http://127.0.0.1:8100", address))
            done = subprocess.run([*own, "--noproxy", "*"], capture_output=True, check=True)
            answer = json.loads(done.stdout)
            assert "error" not in answer, command
            assert answer.get("results", True), command
