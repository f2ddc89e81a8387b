"""Programs as agents: real ones, started, watched, ended and killed."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.agents.agent import (
    ConversationMessage,
    Gone,
    JobAnswer,
    JobRequest,
    JobStatus,
    UnreadableJobAnswer,
)
from tasks.agents.command.capture import CapturedStream, mask_variables
from tasks.agents.command.client import CommandClient, safe_file_name
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders, AgentLimits
from tasks.agents.registry import read_answer
from tasks.models.errors import Misconfigured

SECRET = "a key that nobody must see"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[AgentFolders]:
    place = AgentFolders(tmp_path / "work", tmp_path / "archive")
    yield place
    for process in psutil.process_iter():  # what a failed test may have left
        try:
            mine = process.environ().get("EVERGREEN_ASSIGNMENT", "").startswith(str(tmp_path))
        except psutil.Error:
            continue
        if mine:
            process.kill()


def question(job: str = "job-1", prompt: str = "Wríte it.", **further: object) -> JobRequest:
    given = {"job": job, "edition": "e", "assignment": "Ünter_x", "title": "T",
             "kind": "write_article", "prompt": prompt}  # fmt: skip
    return JobRequest.model_validate(given | further)


def client(
    place: AgentFolders, *command: str, seconds: float = 60, **further: object
) -> CommandClient:
    ask = CommandAsk.model_validate(
        {"kind": "command", "command": command,
         "limits": AgentLimits(deadline_minutes=seconds / 60)} | further
    )  # fmt: skip
    return CommandClient("an/agent", ask, place, grace_seconds=0.3)


def shell(place: AgentFolders, script: str, **further: object) -> CommandClient:
    return client(place, "sh", "-c", script, **further)  # type: ignore[arg-type]


async def ended(agent: CommandClient, job: str = "job-1") -> JobStatus:
    until = time.monotonic() + 30
    while not (seen := await agent.poll(job)).ended:
        assert time.monotonic() < until, "the program has not ended"
        await asyncio.sleep(0.02)
    return seen


def answer_to(agent: CommandClient, asked: JobRequest | None = None) -> JobAnswer:
    async def ask() -> JobAnswer:
        seen = await agent.start(asked or question())
        assert (seen.remote_id, seen.ended) == ((asked or question()).job, False)
        return read_answer("command", (await ended(agent)).raw or "")

    return asyncio.run(ask())


def home(place: AgentFolders, job: str = "job-1") -> Path:
    return place.work / "an%2Fagent" / job / "program"


def test_the_prompt_comes_on_stdin_and_the_report_from_stdout(place: AgentFolders) -> None:
    answer = answer_to(shell(place, "printf 'Report: '; cat"))
    assert (answer.outcome, answer.text) == ("report", "Report: Wríte it.")


def test_a_named_file_in_its_folder_is_the_report(place: AgentFolders) -> None:
    script = "echo chatter; mkdir -p out; printf '# Über' > out/report.md"
    assert answer_to(shell(place, script, output="out/report.md")).text == "# Über"


def test_answer_json_brings_sources_trace_cost_and_the_report(place: AgentFolders) -> None:
    given = {
        "report": "A [1].",
        "sources": [{"url": "https://a.example/", "title": "A"}],
        "trace": [{"query": "q", "opened": ["https://a.example/"]}],
        "usage": {"searches": 1},
        "cost_usd": 0.5,
        "model_version": "m-1",
    }
    answer = answer_to(shell(place, f"printf '%s' '{json.dumps(given)}' > answer.json; echo log"))
    assert (answer.text, answer.cost_usd, answer.model_version) == ("A [1].", 0.5, "m-1")
    assert answer.sources[0].url == "https://a.example/"
    assert answer.trace[0].query == "q"
    assert answer.usage.searches == 1


def test_a_question_back_is_a_question(place: AgentFolders) -> None:
    asks = """printf '{"question": true}' > answer.json; echo 'Which year?'"""
    answer = answer_to(shell(place, asks))
    assert (answer.outcome, answer.text.strip()) == ("question", "Which year?")


def test_before_a_reply_it_reads_what_led_to_it(place: AgentFolders) -> None:
    earlier = (
        ConversationMessage(role="user", text="Write."),
        ConversationMessage(role="agent", text="Which year?"),
    )
    heard = answer_to(shell(place, "cat"), question(prompt="Decide.", history=earlier)).text
    assert heard == "Write.\n\nYou asked:\n\nWhich year?\n\nDecide."


def test_it_is_told_what_is_asked(place: AgentFolders) -> None:
    asked = question(banned=("https://en.wikipedia.org/wiki/T",))
    told = json.loads(answer_to(shell(place, 'cat "$EVERGREEN_ASSIGNMENT"'), asked).text)
    assert told == {
        "job": "job-1", "edition": "e", "assignment": "Ünter_x", "title": "T",
        "kind": "write_article", "query": None, "prompt": "Wríte it.",
        "banned": ["https://en.wikipedia.org/wiki/T"], "conversation": [],
    }  # fmt: skip


def test_its_environment_holds_none_of_ours_but_what_its_entry_names(
    place: AgentFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "another key of ours")
    monkeypatch.setenv("ITS_KEY", SECRET)
    script = (
        'env | sed "s/=.*//" | sort; [ "$ITS_KEY" = "a key that nobody must see" ] && echo held'
    )
    lines = answer_to(shell(place, script, environment=("ITS_KEY",))).text.split()
    assert lines.pop() == "held"
    assert set(lines) - {"PWD", "SHLVL", "_", "OLDPWD"} == {
        "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "EVERGREEN_ASSIGNMENT", "EVERGREEN_CACHE",
        "ITS_KEY",
    }  # fmt: skip


@pytest.mark.parametrize("where", ["stdout", "stderr", "file", "answer"])
def test_a_secret_that_it_repeats_is_seen_nowhere(
    place: AgentFolders, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("ITS_KEY", SECRET)
    script = {
        # Byte by byte, so that the secret comes in pieces.
        "stdout": 'for ((i = 0; i < ${#ITS_KEY}; i++)); do printf %s "${ITS_KEY:i:1}"; done',
        "stderr": 'echo "failed with $ITS_KEY" >&2; exit 3',
        "file": 'echo "$ITS_KEY end" > report.md',
        "answer": 'echo end; printf \'{"model_version": "%s"}\' "$ITS_KEY" > answer.json',
    }[where]
    output = "report.md" if where == "file" else None
    agent = client(place, "bash", "-c", script, environment=("ITS_KEY",), output=output)

    async def run() -> str:
        await agent.start(question())
        return (await ended(agent)).raw or ""

    raw = asyncio.run(run())
    assert "[hidden]" in raw
    assert SECRET not in raw
    ours = [path for path in home(place).parent.iterdir() if path.is_file()]
    assert not [path.name for path in ours if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("script", "why", "output"),
    [
        ("echo half; echo no quota >&2; exit 7",
         "ended with code 7; the end of its standard error: no quota", None),
        ("echo half; kill -9 $$", "SIGKILL", None),
        ("true", "neither a report", None),
        ("printf '  \\n'", "neither a report", None),
        ("printf 'caf\\351'", "not UTF-8 (byte 3 is 0xe9)", None),
        ("echo text; mkfifo answer.json", "not a regular file", None),
        ("echo text; ln -s /etc/passwd answer.json", "outside the program's folder", None),
        ("echo text; ln -s answer.json answer.json", "answer.json cannot be read", None),
        ("echo text; head -c 17000000 /dev/zero > answer.json", "larger than 16 MB", None),
        ("ln -s /etc/passwd report.md", "outside the program's folder", "report.md"),
        ("ln -s ../../../elsewhere.md report.md", "outside the program's folder", "report.md"),
    ],
)  # fmt: skip
def test_what_is_no_good_report_is_a_failure_with_its_reason(
    place: AgentFolders, script: str, why: str, output: str | None
) -> None:
    place.work.mkdir(parents=True)
    (place.work / "elsewhere.md").write_text("not for you")
    answer = answer_to(shell(place, script, output=output))
    assert answer.outcome == "failed"
    assert why in (answer.error or "")
    assert "not for you" not in answer.text


def test_a_report_that_came_with_a_failure_is_kept(place: AgentFolders) -> None:
    script = """echo half; printf '{"cost_usd": 2.5}' > answer.json; exit 7"""
    answer = answer_to(shell(place, script))
    assert (answer.outcome, answer.text, answer.cost_usd) == ("failed", "half\n", 2.5)


@pytest.mark.parametrize("output", ["/tmp/report.md", "../report.md"])
def test_an_output_outside_its_folder_is_refused_before_anything_runs(
    place: AgentFolders, output: str
) -> None:
    with pytest.raises(Misconfigured, match="own folder"):
        answer_to(shell(place, "true", output=output))
    assert not place.work.exists()


def test_an_answer_json_of_another_form_is_no_report(place: AgentFolders) -> None:
    for left, named in (("[1]", "object"), ('{"sources": 3}', "sources"), ("{", "not JSON")):
        raw = json.dumps({"exit": {"reason": "exit", "code": 0}, "report": "R", "given": left})
        with pytest.raises(UnreadableJobAnswer, match=named):
            read_answer("command", raw)


def test_the_same_job_is_started_once(place: AgentFolders) -> None:
    script = 'echo run >> "$EVERGREEN_CACHE/runs"; sleep 0.3; echo done'
    agent = shell(place, script, shared_cache=True)

    async def thrice() -> None:
        await asyncio.gather(*(agent.start(question()) for _ in range(3)))
        await shell(place, "echo never").start(question())
        await ended(agent)
        await agent.start(question())

    asyncio.run(thrice())
    assert (place.work / ".cache" / "an%2Fagent" / "runs").read_text() == "run\n"


def test_a_killed_supervisor_is_noticed_and_its_program_ended(place: AgentFolders) -> None:
    agent = shell(place, "echo so far; (setsid sleep 985.25 &); sleep 985.25")

    async def run() -> JobAnswer:
        await agent.start(question())
        for _ in range(500):
            if (home(place).parent / "stdout").read_text():
                break
            await asyncio.sleep(0.02)
        for process in psutil.process_iter(["cmdline"]):
            line = process.info["cmdline"] or ()
            if "tasks.agents.command.supervisor" in line and str(home(place).parent) in line:
                process.kill()
                process.wait(5)
        return read_answer("command", (await ended(agent)).raw or "")

    answer = asyncio.run(run())
    assert (answer.outcome, answer.text) == ("failed", "so far\n")
    assert "supervisor was killed" in (answer.error or "")
    time.sleep(0.2)
    running = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert ["sleep", "985.25"] not in running
    assert asyncio.run(agent.start(question())).ended is False  # and is not started anew
    assert asyncio.run(agent.poll("job-1")).ended


def test_a_job_that_nobody_started_is_gone(place: AgentFolders) -> None:
    with pytest.raises(Gone):
        asyncio.run(shell(place, "true").poll("job-9"))


@pytest.mark.parametrize("program", ["no-such-program-anywhere", "text.md", "./missing.sh"])
def test_a_program_that_cannot_be_run_is_refused_before_anything_is_made(
    place: AgentFolders, program: str, tmp_path: Path
) -> None:
    (tmp_path / "text.md").touch(0o644)
    agent = client(place, str(tmp_path / program) if program == "text.md" else program)
    for asked in (agent.start(question()), agent.check()):
        with pytest.raises(Misconfigured, match="not found, or is not executable"):
            asyncio.run(asked)
    assert not place.work.exists()


def test_a_variable_that_is_not_set_is_named(place: AgentFolders) -> None:
    with pytest.raises(Misconfigured, match="NO_SUCH_KEY, which is not set"):
        asyncio.run(shell(place, "true", environment=("NO_SUCH_KEY",)).start(question()))


def test_a_file_that_is_no_program_is_a_failure(place: AgentFolders, tmp_path: Path) -> None:
    broken = tmp_path / "program"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    assert "could not be started" in (answer_to(client(place, str(broken))).error or "")


def test_it_reads_the_archive_that_it_is_given(place: AgentFolders) -> None:
    agent = shell(place, 'cat "$EVERGREEN_ARCHIVE"/pages.parquet', archive=True)
    with pytest.raises(Misconfigured, match="no pages have been exported"):
        asyncio.run(agent.start(question()))
    assert place.archive is not None
    place.archive.mkdir()
    (place.archive / "pages.parquet").write_text("the pages")
    assert "it will read the archived pages that no assignment bans" in asyncio.run(agent.check())
    assert answer_to(agent).text == "the pages"


def test_a_check_says_what_would_run_and_runs_nothing(
    place: AgentFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITS_KEY", SECRET)
    said = asyncio.run(shell(place, "touch /tmp/x", environment=("ITS_KEY",)).check())
    assert "it will see ITS_KEY" in said
    assert "not run" in said
    assert SECRET not in said
    assert not place.work.exists()


def test_a_script_by_a_relative_path_is_refused_with_the_whole_one(
    place: AgentFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text("print(1)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misconfigured, match=f"Write {tmp_path / 'agent.py'}"):
        asyncio.run(client(place, sys.executable, "agent.py").check())


def test_the_sandboxs_address_may_be_seen_unless_it_holds_a_password() -> None:
    variables = {"EVERGREEN_SANDBOX": "http://127.0.0.1:8100", "EVERGREEN_SANDBOX_KEY": SECRET}
    assert mask_variables(variables).hide(f"http://127.0.0.1:8100 {SECRET}") == (
        "http://127.0.0.1:8100 [hidden]"
    )
    with_password = mask_variables({"EVERGREEN_SANDBOX": "http://me:word@a.example"})
    assert with_password.hide("at http://me:word@a.example") == "at [hidden]"


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_are_one_part_of_a_path_each_and_stay_different(one: str, other: str) -> None:
    made = safe_file_name(one)
    assert "/" not in made
    assert made not in (".", "..", ".cache")
    assert 0 < len(made.encode()) <= 255
    assert (made == safe_file_name(other)) == (one == other)


@given(
    st.lists(st.sampled_from([b"secret-value", b"sec", b"ret-value", b"value-of", b"x", b"-"])),
    st.integers(1, 7),
)
def test_a_stream_shows_no_secret_however_it_is_cut(parts: list[bytes], size: int) -> None:
    whole = b"".join(parts)
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "stdout"
        secrets = mask_variables({"A": "secret-value", "B": "on"})
        with CapturedStream.open(kept, secrets) as stream:
            for at in range(0, len(whole), size):
                stream.add(whole[at : at + size])
            stream.finish()
        assert kept.read_bytes() == whole.replace(b"secret-value", b"[hidden]")


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_raw_answer_is_read_or_refused(raw: str) -> None:
    try:
        read_answer("command", raw)
    except UnreadableJobAnswer:
        return
