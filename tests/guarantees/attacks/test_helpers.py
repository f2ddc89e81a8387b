"""A file that has taken over the process that reads it."""

import asyncio
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.configuration.web import ReadingBounds
from tasks.documents.document import UnreadableDocument
from tasks.documents.reading import read_document
from tasks.processes import helper as helper_module
from tasks.processes.answers import ERROR, VALUE, HelperFailed, RaisedError
from tasks.processes.helper import Helper, HelperCrashed, LimitExceeded
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.contents import PageStore
from tasks.warehouse.errors import DamagedWarehouse
from tasks.web.page import FetchedContent, ReadPage
from tasks.web.readers import PageReaders
from tests.attacks.taken_over import get_environment, look_at_itself, read_input, send_number

PAGE = FetchedContent(
    source="direct",
    url="https://example.com/",
    final_url="https://example.com/",
    http_status=200,
    headers={},
    content=b"",
)


@pytest.fixture(scope="module", autouse=True)
def helpers() -> None:
    """Those here are processes."""


class Malicious:
    """Its pickle makes a file where it is loaded."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


def send_page(answer: bytes) -> ReadPage:
    send_number(answer)
    return ReadPage(status="ok")


@pytest.fixture
def helper() -> Iterator[Helper]:
    started = Helper()
    yield started
    started.end()


def test_a_pickle_as_an_answer_runs_nothing(tmp_path: Path, helper: Helper) -> None:
    """An answer of a helper runs no code in our process, whatever bytes it is."""
    made = tmp_path / "made"
    pickled = pickle.dumps((True, Malicious(str(made))))
    with pytest.raises(HelperCrashed, match="neither a value nor an error"):
        helper.call(send_number, pickled)
    for first in (VALUE, ERROR):
        other = Helper()
        with pytest.raises(HelperCrashed, match="answered with"):
            other.call(send_number, first + pickled)
        other.end()
    assert not made.exists()
    pickle.loads(pickled)
    assert made.exists()


@pytest.mark.parametrize(
    "answer",
    [
        b'v"a text"',
        b"v[1]",
        b"v",
        b"",
        b"v1 2",
        b"e{}",
        b'e{"name": "E"}',
        b'e{"kind": "error", "name": "E", "message": "", "place": "", "more": 1}',
    ],
)
def test_an_answer_of_another_type_is_refused(answer: bytes, helper: Helper) -> None:
    """An answer of another type than the function declares is refused, and ends its helper."""
    with pytest.raises(HelperCrashed, match="answered with"):
        helper.call(send_number, answer)
    assert not helper.is_usable


def test_an_answer_that_is_too_long_is_not_read(
    helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is longer than the largest honest one is not read into our memory."""
    with pytest.raises(HelperCrashed, match="answered with more than 268,435,456 bytes"):
        helper.call(send_number, b"v1", 1 << 62)
    monkeypatch.setattr(helper_module, "MAX_ANSWER_BYTES", 10)
    other = Helper()
    with pytest.raises(HelperCrashed, match="more than 10 bytes"):
        other.call(send_number, b"v" + b"1" * 10)
    other.end()


def test_an_answer_that_ends_too_early_is_a_crash(helper: Helper) -> None:
    """An answer that stops in the middle leaves nobody waiting."""
    with pytest.raises(HelperCrashed):
        helper.call(send_number, b"v1", 100)


def raised(name: str, message: str) -> bytes:
    told = RaisedError(kind="error", name=name, message=message, place="x.py, line 1")
    return ERROR + told.model_dump_json().encode()


@pytest.mark.parametrize("name", ["builtins.SystemExit", "os.system", "subprocess.Popen"])
def test_only_known_errors_are_raised_by_their_name(
    name: str, helper: Helper, tmp_path: Path
) -> None:
    """A helper raises errors that its caller knows, or a plain failure: a name runs nothing."""
    with pytest.raises(HelperFailed):
        helper.call(send_number, raised(name, f"touch {tmp_path}/made"), raises=(ValueError,))
    assert not list(tmp_path.iterdir())
    other = Helper()
    with pytest.raises(ValueError, match="known"):
        other.call(send_number, raised("builtins.ValueError", "known"), raises=(ValueError,))
    other.end()


def test_a_message_of_a_helper_steers_no_terminal(helper: Helper) -> None:
    """The message of a helper's error is printable and short: it steers no terminal."""
    with pytest.raises(HelperFailed) as caught:
        helper.call(
            send_number, raised("builtins.ValueError", "\x1b[2J\x07\u202eabc" + "x" * 9_999)
        )
    assert "ValueError: [2Jabcxxx" in str(caught.value)
    assert len(str(caught.value)) <= 2_000


def test_a_page_cannot_blame_the_warehouse(tmp_path: Path) -> None:
    """A page that took its reader over can fail itself, but neither the warehouse nor the stage."""
    with PageStore(tmp_path).create() as receiving:
        receiving.write(b"<p>honest")
        sha = receiving.keep()

    class Answering(HelperProcesses):
        def submit(self, *_: object, **limits: object):  # type: ignore[no-untyped-def]
            return super().submit(send_page, self.answer, **limits)  # type: ignore[arg-type]

        answer = b""

    async def read(answer: bytes, of: str) -> ReadPage:
        async with PageReaders(ReadingBounds(workers=1)) as readers:
            readers._helpers = Answering(1)
            readers._helpers.answer = answer
            return await readers.read_stored(tmp_path, of, PAGE)

    damaged = raised(f"{DamagedWarehouse.__module__}.DamagedWarehouse", "missing")
    for answer in (damaged, raised("builtins.KeyboardInterrupt", "x"), b"v[]"):
        assert asyncio.run(read(answer, sha)).status == "unreadable"
    with pytest.raises(DamagedWarehouse):
        asyncio.run(read(damaged, "0" * 64))


def test_a_helper_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper of any pool has no key or password in its environment."""
    secrets = [
        "OPENAI_API_KEY", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "PREFECT_API_AUTH_STRING",
        "PREFECT_API_KEY", "EVERGREEN_SANDBOX_KEY", "EVERGREEN_WAREHOUSE", "HTTPS_PROXY",
    ]  # fmt: skip
    for name in secrets:
        monkeypatch.setenv(name, "secret")
    pool = HelperProcesses(1)
    try:
        environment = asyncio.run(pool.run(get_environment))
    finally:
        pool.close()
    assert not {*secrets} & {*environment}
    assert "secret" not in environment.values()


def test_a_helper_leaves_no_core_and_cannot_be_read(helper: Helper) -> None:
    """A helper dumps no core, is readable by no other process, and has no terminal."""
    dumpable, core, parent, own_session = helper.call(look_at_itself)
    assert not dumpable
    assert core == (0, 0)
    assert parent == os.getpid()
    assert own_session


def test_a_helper_reads_no_later_call(helper: Helper) -> None:
    """What runs in a helper finds nothing on standard input."""
    assert helper.call(read_input, seconds=20) == "'' b''"


def test_an_ill_file_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report's file whose reader answers nonsense is an unreadable file, and no crash."""

    def answer_nonsense(*_: object, **__: object) -> object:
        taken = Helper()
        try:
            return taken.call(send_number, b"vnonsense")
        except HelperCrashed as error:
            raise LimitExceeded(str(error)) from error
        finally:
            taken.end()

    monkeypatch.setattr("tasks.documents.reading.run_bounded", answer_nonsense)
    with pytest.raises(UnreadableDocument, match="Export it afresh"):
        read_document("a.html", b"<html><p>text")
