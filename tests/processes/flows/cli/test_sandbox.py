"""`evergreen sandbox` as a process: built, asked, ended; and the baseline that searches there."""

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
from typing import IO

import pytest
from filelock import FileLock

from tasks.agents.agent import JobAnswer, JobRequest
from tasks.agents.command.client import CommandClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders
from tasks.jobs.searches import grant_access
from tests import patient
from tests.docs.blocks import SANDBOX, list_blocks
from tests.flows.cli.test_sandbox import ROOT, invoked, sample, warehouse
from tests.tasks.agents.programs import run_program
from tests.tasks.sandbox.archives import COPY, MOVED, PAGES, TOWERS, WIKI, write_snapshot

__all__ = ["sample", "warehouse"]
COMMAND = [sys.executable, "-m", "flows", "sandbox"]
HOST = b"Host: 127.0.0.1\r\n"
SLOW = (b"GET /search?query=light HTTP/1.1\r\n" + HOST,
        b"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n" + HOST + b"\r\n{",
        b"")  # fmt: skip
"""What clients have sent that never send the rest."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@contextmanager
def running(
    warehouse: Path, *options: str, remarked: tuple[str, ...] = (), tokens: bool = False,
    **environment: str,
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """The server's address, and what it has printed; at the end it gets Ctrl-C.

    remarked: what must stand among its remarks. tokens: whether it wants them.
    """
    admitted = () if tokens else ("--open",)
    with subprocess.Popen(
        [*COMMAND, "--warehouse", str(warehouse), "--port", "0", *admitted, *options],
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
        assert remarks.endswith("Stopped.\n")
        assert "Traceback" not in remarks
        assert [each for each in remarked if each not in remarks] == []


def until(lines: IO[str], word: str) -> Iterator[str]:
    """Lines up to the first that begins with a word; fewer if the process ends."""
    for line in lines:
        yield line
        if line.startswith(word):
            return


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server for all the world of an edition, three of whose seven pages no assignment bans.

    It ends though clients stay that are slow or silent.
    """
    folder = tmp_path_factory.mktemp("served")
    write_snapshot(folder / "exports" / "w" / "e" / "latest")
    # Entered first, the stack is left last: the server ends with its clients still there.
    with (
        ExitStack() as stack,
        running(
            folder / "w.duckdb", "--edition", "e", "--host", "0.0.0.0",
            remarked=(
                "\n3 of 7 pages are served; pages that an assignment bans are left out.\n",
                "Anybody who can reach 0.0.0.0 can read these texts",
            ),
        ) as (address, said),
    ):  # fmt: skip
        yield address, said
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        for sent in SLOW:
            client = stack.enter_context(socket.create_connection(place, timeout=60))
            client.sendall(sent)
        stays = stack.enter_context(patient.Client(trust_env=False))
        assert stays.get(f"{address}/health").status_code == 200


def test_an_index_is_built_and_said_to_be(warehouse: Path) -> None:
    code, said = invoked(warehouse, "--edition", "e", "--build-only")
    assert code == 0
    assert "e: 7 pages in 7 passages" in said
    assert "(7 new or changed, 0 gone" in said
    [folder] = (warehouse.parent / "sandbox" / "w").glob("e-*[!k]")
    assert str(folder) in said


def test_it_says_what_there_is_and_serves(served: tuple[str, str]) -> None:
    address, said = served
    assert f"{address}/mcp" in said
    [curl] = re.findall(r"'(http\S+)'", said)
    assert patient.get(curl, trust_env=False).json()["query"] == "history"
    asked = {"query": "first lit in 1875", "format": "json"}
    found = patient.get(f"{address}/search", params=asked, trust_env=False).json()["results"]
    assert found[0]["url"] == TOWERS


@pytest.mark.parametrize("named", [{}, {"assignment": "harrow"}, {"assignment": "bread"}])
def test_what_any_assignment_bans_is_left_out_for_all(
    served: tuple[str, str], named: dict[str, str]
) -> None:
    address, _ = served
    for url in (WIKI, COPY, MOVED, PAGES[3].url):
        answer = patient.get(f"{address}/fetch", params={"url": url} | named)
        assert answer.status_code == 404
    assert patient.get(f"{address}/fetch", params={"url": TOWERS} | named).status_code == 200


def test_a_corpus_is_served_with_the_bans_of_an_edition(warehouse: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    records = [{"url": url, "text": "A lighthouse."} for url in (WIKI, "https://new.example/x")]
    corpus.write_text("\n".join([*map(json.dumps, records), "no page"]))
    options = ("--edition", "e", "--corpus", str(corpus))
    with running(warehouse, *options, tokens=True) as (address, said):
        assert '-H "Authorization: Bearer $TOKEN"' in said
        asked = {"query": "lighthouse", "format": "json"}
        for_whom = ("--edition", "e", "--assignment", "harrow", "--agent", "a")
        made = subprocess.run(
            [*COMMAND, "token", *for_whom, "--warehouse", str(warehouse)],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        headers = {"x-api-key": made.stdout.strip()}
        found = patient.get(f"{address}/search", params=asked, headers=headers).json()
        assert [one["url"] for one in found["results"]] == ["https://new.example/x"]
        assert patient.get(f"{address}/search", params=asked).status_code == 401


def test_without_an_edition_nothing_is_banned_and_the_start_says_so(
    warehouse: Path, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"url": WIKI, "text": "A lighthouse."}))
    said = "Nothing is banned, not even encyclopedias: without an edition"
    with running(warehouse, "--corpus", str(corpus), remarked=(said,)) as (address, _):
        assert patient.get(f"{address}/fetch", params={"url": WIKI}).status_code == 200
        assert patient.get(f"{address}/health").json()["banned"] is None


def test_how_many_pages_are_served_as_of_a_day_is_said(warehouse: Path) -> None:
    said = "\n1 of 7 pages are served; pages from after 2025-03-01 and pages that an "
    said += "assignment bans are left out.\n"
    options = ("--edition", "e", "--as-of", "2025-03-01")
    with running(warehouse, *options, remarked=(said,)) as (address, _):
        assert patient.get(f"{address}/health", trust_env=False).json()["pages"] == 1


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
    assert remarks.strip() == "Interrupted. The built part is kept; run again to resume."


def ask(warehouse: Path, place: AgentFolders, banned: tuple[str, ...] = ()) -> JobAnswer:
    """The baseline's report on the lighthouse, searched over the sandbox."""
    entry = CommandAsk(
        kind="command",
        command=("{python}", "-m", "tasks.agents.baseline"),
        network="sandbox",
    )
    client = CommandClient("sandbox_baseline", entry, place)
    question = JobRequest(job="j", edition="e", assignment="harrow",
                          title="Harrow Point Lighthouse", kind="write_article",
                          prompt="Write it.", banned=banned)  # fmt: skip
    question = grant_access(warehouse, "sandbox_baseline", entry, question)

    return run_program(client, question)


def test_the_baseline_writes_from_the_sandbox_and_cites_nothing_that_is_not_there(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(warehouse, "--edition", "e", tokens=True) as (address, _):
        monkeypatch.setenv("EVERGREEN_SANDBOX", address)
        answer = ask(warehouse, AgentFolders(tmp_path / "work", None))
    assert (answer.outcome, answer.error) == ("report", None)
    cited = set(re.findall(r"^\[\d+\] .* (https://\S+)$", answer.text, re.MULTILINE))
    assert len(cited) >= 2
    assert cited <= {page.url for page in PAGES}
    assert not cited & {WIKI, COPY, MOVED}
    assert answer.trace[0].query == "Harrow Point Lighthouse"
    assert "1874" in answer.text


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_example_in_its_documentation_works(sample: Path) -> None:
    shown = [block for block in list_blocks() if block.mark == SANDBOX]
    commands = [line for block in shown if block.language == "sh"
                for line in block.text.splitlines()]  # fmt: skip
    [program] = [block.text for block in shown if block.language == "python"]
    assert len(commands) >= 6
    with running(sample, "--edition", "sample") as (address, _):
        for command in commands:
            own = shlex.split(command.replace("http://127.0.0.1:8100", address))
            done = subprocess.run([*own, "--noproxy", "*"], capture_output=True, check=True)
            answer = json.loads(done.stdout)
            assert "error" not in answer, command
            assert answer.get("results", True), command
        own = [sys.executable, "-c", program.replace("http://127.0.0.1:8100", address)]
        done = subprocess.run(own, capture_output=True, check=True)
        assert b"eddystone-towers" in done.stdout
