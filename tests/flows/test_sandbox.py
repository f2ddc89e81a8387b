"""`evergreen sandbox` as a process: built, asked, ended; and the baseline that searches there."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import dedent
from typing import IO

import pytest
import typer
from filelock import FileLock
from typer.testing import CliRunner

from flows.console import REMARKS
from flows.sandbox_cli import sandbox
from tasks.agents.agent import Answer, Question
from tasks.agents.command import CommandClient, read
from tasks.agents.kinds import Place
from tasks.configuration.agents import CommandAsk
from tasks.importing import import_edition
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests import patient
from tests.tasks.sandbox.archives import COPY, MOVED, PAGES, TOWERS, WIKI, write_snapshot

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "flows", "sandbox"]
HOST = b"Host: 127.0.0.1\r\n"
SLOW = (b"GET /search?query=light HTTP/1.1\r\n" + HOST,
        b"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n" + HOST + b"\r\n{",
        b"")  # fmt: skip
"""What clients have sent that never send the rest."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Where a warehouse would be whose edition `e` was exported."""
    write_snapshot(tmp_path / "exports" / "w" / "e" / "latest")
    return tmp_path / "w.duckdb"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the sample edition, exported."""
    path = tmp_path_factory.mktemp("sample") / "real.duckdb"
    with open_warehouse(path) as store:
        import_edition(store, ROOT / "data" / "sample", "sample", [])
        export_edition(store, "sample")
    return path


@contextmanager
def running(
    warehouse: Path, *options: str, remarked: str = "", **environment: str
) -> Iterator[tuple[str, str]]:
    """The server's address, and what it has printed; at the end it gets Ctrl-C.

    remarked: what must stand among its remarks.
    """
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
        assert "Traceback" not in remarks
        assert remarked in remarks


def until(lines: IO[str], word: str) -> Iterator[str]:
    """Lines up to the first that begins with a word; fewer if the process ends."""
    for line in lines:
        yield line
        if line.startswith(word):
            return


@pytest.mark.long
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
        assert patient.get(curl, trust_env=False).json()["query"] == "history"
        asked = {"query": "first lit in 1875", "format": "json"}
        found = patient.get(f"{address}/search", params=asked, trust_env=False).json()["results"]
        assert found[0]["url"] == TOWERS


@pytest.mark.long
@pytest.mark.long
def test_what_no_assignment_may_use_can_be_left_out_for_all(warehouse: Path) -> None:
    with running(warehouse, "--edition", "e", "--without-banned") as (address, _):
        for url in (WIKI, COPY, MOVED, PAGES[3].url):
            assert patient.get(f"{address}/fetch", params={"url": url}).status_code == 404
        assert patient.get(f"{address}/fetch", params={"url": TOWERS}).status_code == 200


@pytest.mark.long
@pytest.mark.long
def test_a_corpus_is_served_with_the_bans_of_an_edition(warehouse: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    records = [{"url": url, "text": "A lighthouse."} for url in (WIKI, "https://new.example/x")]
    corpus.write_text("\n".join([*map(json.dumps, records), "no page"]))
    options = ("--edition", "e", "--corpus", str(corpus), "--assignment", "harrow")
    with running(warehouse, *options, "--api-key-env", "KEYS", KEYS="a, b") as (address, said):
        assert '-H "x-api-key: $KEY"' in said
        asked = {"query": "lighthouse", "format": "json"}
        found = patient.get(f"{address}/search", params=asked, headers={"x-api-key": "b"}).json()
        assert [one["url"] for one in found["results"]] == ["https://new.example/x"]
        assert patient.get(f"{address}/search", params=asked).status_code == 401


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say --edition, --corpus, or both"),
        (("--corpus", ".", "--assignment", "a"), "assignments belong to an edition"),
        (("--edition", "e", "--as-of", "soon"), "expected a day as 2025-11-30, not 'soon'"),
        (
            ("--edition", "e", "--assignment", "x"),
            "e has no assignment 'x'; it has 2, such as bread, harrow. All: evergreen sql",
        ),
        (("--edition", "e", "--api-key-env", "NOT_SET"), "NOT_SET is not set or empty"),
        (
            ("--edition", "e", "--api-key-env", "ODD"),
            "ODD holds characters that no HTTP header carries",
        ),
        (("--edition", "e", "--api-key-env", "UNSEEN"), "UNSEEN holds characters"),
        (("--edition", "other"), "there is no warehouse yet"),
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
        env={"COLUMNS": "200", "ODD": "a, schlüssel", "UNSEEN": "a\tb"},
    )
    assert "schlüssel" not in f"{done.output} {done.exception}"
    assert done.exit_code != 0
    assert said in " ".join(f"{done.output} {done.exception}".replace("│", " ").split())
    assert not list(warehouse.parent.glob("sandbox/w/e-*/current.json"))


def invoked(warehouse: Path, *options: str) -> tuple[int, str]:
    """The exit code of the command in this process, and all that it said."""
    app = typer.Typer()
    app.command()(sandbox)
    with REMARKS.capture() as remarks:
        done = CliRunner().invoke(app, ["--warehouse", str(warehouse), *options])
    return done.exit_code, f"{done.output} {remarks.get()} {done.exception}"


def test_an_edition_that_is_not_there_is_told_with_those_that_are(sample: Path) -> None:
    code, said = invoked(sample, "--edition", "smaple")
    assert code == 1
    assert "There is no edition 'smaple'; there are: sample." in said


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        ("[1]\n", (), "no page can be served"),
        ('{"url": "https://a.example", "text": "x", "date": "2025"}', ("--as-of", "2024-01-01"),
         "0 of 1 pages are served as of 2024-01-01: there is nothing to search"),
    ],
)  # fmt: skip
def test_nothing_to_serve_is_an_error(
    warehouse: Path, tmp_path: Path, lines: str, options: tuple[str, ...], said: str
) -> None:
    (tmp_path / "c.jsonl").write_text(lines)
    corpus = ("--corpus", str(tmp_path / "c.jsonl"), "--port", "0")
    code, told = invoked(warehouse, *corpus, *options)
    assert code == 1
    assert said in told


def test_what_is_left_out_or_not_dated_is_counted_and_named(
    warehouse: Path, tmp_path: Path
) -> None:
    one, two = ({"url": "https://a.example", "text": text, "date": "soon"} for text in "xy")
    more = {"url": "https://b.example", "text": "z", "date": "later"}
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, (one, two, more))))
    code, told = invoked(warehouse, "--corpus", str(tmp_path / "c.jsonl"), "--build-only")
    assert code == 0
    assert "left out: https://a.example: another page before it has this address" in told
    assert "date not read: c.jsonl:1: 'soon'" in told
    assert "date not read: 2 more" in told
    assert "2 pages in 2 passages" in told


@pytest.mark.long
def test_how_many_pages_are_served_as_of_a_day_is_said(warehouse: Path) -> None:
    said = "\n1 of 7 pages are served as of 2025-03-01.\n"
    options = ("--edition", "e", "--as-of", "2025-03-01")
    with running(warehouse, *options, remarked=said) as (address, _):
        assert patient.get(f"{address}/health", trust_env=False).json()["pages"] == 1


@pytest.mark.long
def test_ctrl_c_while_the_index_is_built_says_how_to_go_on(warehouse: Path) -> None:
    options = ("--warehouse", str(warehouse), "--edition", "e", "--port", "0")
    assert invoked(warehouse, "--edition", "e", "--build-only")[0] == 0
    [lock] = (warehouse.parent / "sandbox" / "w").glob("e-*.lock")
    with (
        FileLock(lock),
        subprocess.Popen([*COMMAND, *options], cwd=ROOT, stderr=subprocess.PIPE, text=True) as one,
    ):
        assert one.stderr is not None
        assert list(until(one.stderr, "Another process builds"))
        one.send_signal(signal.SIGINT)
        _, remarks = one.communicate(timeout=60)
    assert one.returncode == 130
    assert remarks.strip() == "Stopped. What is built is kept; run again to go on."


@pytest.mark.long
@pytest.mark.long
def test_clients_that_are_slow_or_stay_do_not_disturb_its_end(warehouse: Path) -> None:
    # Entered first, the stack is left last: the server ends with its clients still there.
    with ExitStack() as stack, running(warehouse, "--edition", "e") as (address, _):
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        for said in SLOW:
            client = stack.enter_context(socket.create_connection(place, timeout=60))
            client.sendall(said)
        stays = stack.enter_context(patient.Client(trust_env=False))
        assert stays.get(f"{address}/health").status_code == 200


@pytest.mark.long
def test_whoever_listens_to_all_the_world_without_a_key_is_warned(warehouse: Path) -> None:
    options = ("--edition", "e", "--host", "0.0.0.0")
    said = "Everybody who reaches 0.0.0.0 can read these texts"
    with running(warehouse, *options, remarked=said) as (address, _):
        assert patient.get(f"{address}/health", trust_env=False).status_code == 200


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
@pytest.mark.long
def test_every_example_in_its_documentation_works(sample: Path) -> None:
    written = (ROOT / "docs" / "sandbox.md").read_text("utf-8")
    commands = re.findall(r"^    (curl .+)$", written, re.MULTILINE)
    assert len(commands) >= 6
    [program] = re.findall(r"^    import asyncio\n.+?^    asyncio.run\(main\(\)\)$", written,
                           re.MULTILINE | re.DOTALL)  # fmt: skip
    with running(sample, "--edition", "sample") as (address, _):
        for command in commands:
            own = shlex.split(command.replace("http://127.0.0.1:8100", address))
            done = subprocess.run([*own, "--noproxy", "*"], capture_output=True, check=True)
            answer = json.loads(done.stdout)
            assert "error" not in answer, command
            assert answer.get("results", True), command
        own = [sys.executable, "-c", dedent(program.replace("http://127.0.0.1:8100", address))]
        done = subprocess.run(own, capture_output=True, check=True)
        assert b"eddystone-towers" in done.stdout
