"""A Prefect server at hand: the one PREFECT_API_URL names, or a local one while it is needed.

Prefect reads its settings when it is first imported, so set them before and import it inside:

    os.environ.update(prefect_environment(home))
    with local_server(home):
        from flows.evaluate import evaluate
        ...

`home` is the folder of all that Prefect keeps here (data/prefect): the history (prefect.db,
SQLite in WAL mode, which survives a server that is killed), results (storage/), the record of
the running server (server.json) and its log (server.log). server_process.py
is the server.
"""

import fcntl
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
from filelock import FileLock, Timeout
from pydantic import ValidationError

from flows.runtime.history import send_pending
from flows.runtime.settings import prefect_environment
from tasks.base import Frozen
from tasks.errors import ExpectedError

START_SECONDS = 90.0
"""How long a server may take until it answers; the first start creates the database."""
ANSWER_SECONDS = 30.0
"""How long one answer of a server may take; a busy one needs a few seconds."""
STOP_SECONDS = 10.0
"""How long a server may take to end after SIGTERM before it is killed."""
UI_PORT = 4200


class ServerError(ExpectedError, RuntimeError):
    """No Prefect server can be had; the message says why and what to do."""


class ServerRecord(Frozen):
    """What server.json says of the running server."""

    pid: int
    port: int

    @property
    def ui_url(self) -> str:
        """What to open in a browser."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_url(self) -> str:
        """What to put into PREFECT_API_URL."""
        return f"{self.ui_url}/api"


@contextmanager
def local_server(home: Path, port: int = 0) -> Iterator[str]:
    """Yield the API's URL, which PREFECT_API_URL holds too while the context is open.

    A configured PREFECT_API_URL is used as it is. Otherwise a server of this `home` that already
    runs is joined, or one is started on the loopback `port` (0: any free one); it ends with its
    last user, also when that one is killed. Prefect is imported on the way: the server starts
    meanwhile.

    Raises ServerError when the configured server does not answer, or ours does not start.
    """
    if configured := os.environ.get("PREFECT_API_URL"):
        check_configured(configured)
        load_prefect()
        yield configured
        return
    with using(home) as users:
        server: subprocess.Popen[bytes] | None = None
        try:
            with only_starter(home):
                server = None if is_served(home) else start(home, port)
                record = wait_until_healthy(home, server)
            try:
                yield record.api_url
            finally:
                send_pending()
        finally:
            os.environ.pop("PREFECT_API_URL", None)
            if server is not None and is_last(users):
                stop(server)


def serve_ui(home: Path, port: int = UI_PORT, on_message: Callable[[str], None] = print) -> None:
    """Serve the Prefect UI over this project's runs until Ctrl-C (`evergreen ui`).

    A run started meanwhile joins this server. Where a run's server is up already its address is
    shown instead, and it stays up until Ctrl-C. With a configured PREFECT_API_URL only the
    address of its UI is printed.
    """
    configured = bool(os.environ.get("PREFECT_API_URL"))
    with local_server(home, port) as api_url:
        on_message(f"Prefect UI: {api_url.removesuffix('/api')}")
        if configured:
            return
        on_message("Ctrl-C ends it.")
        try:
            while is_served(home):  # a busy server may answer late: only its end counts
                time.sleep(2)
        except KeyboardInterrupt:
            return
    raise ServerError(f"The server ended by itself. {log_tail(home)}")


def check_configured(api_url: str) -> None:
    """Raise ServerError, naming the URL and what to do, unless a Prefect API answers there."""
    try:
        answer = httpx.get(f"{api_url.rstrip('/')}/health", timeout=ANSWER_SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        problem = f"does not answer ({error})"
    else:
        if answer.status_code in (200, 401, 403):  # refused for want of a key: Prefect has it
            return
        problem = f"answers {answer.status_code}, not as a Prefect API (its path ends in /api)"
    raise ServerError(
        f"PREFECT_API_URL is {api_url}, which {problem}. Start that server, correct the address, "
        "or unset PREFECT_API_URL to use a local server."
    )


def is_local() -> bool:
    """Whether the API in use is a server of ours, as opposed to one somebody configured."""
    record = read_record(Path(os.environ.get("PREFECT_HOME", "")))
    return record is not None and record.api_url == os.environ.get("PREFECT_API_URL")


@contextmanager
def using(home: Path) -> Iterator[IO[str]]:
    """Hold the shared lock that keeps the server of `home` alive, see server_process.py.

    Waits for a server that is just ending.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        users = (home / "users.lock").open("a")
    except OSError as error:
        raise ServerError(
            f"Prefect's folder {home} cannot be written ({error.strerror}). Make it writable, or "
            "set PREFECT_API_URL to a server that runs elsewhere."
        ) from error
    with users:
        fcntl.flock(users, fcntl.LOCK_SH)
        yield users


def is_last(users: IO[str]) -> bool:
    """Whether nobody else uses the server; from then on nobody can join it."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def only_starter(home: Path) -> Iterator[None]:
    """One process at a time looks for a server and starts one."""
    try:
        with FileLock(home / "starting.lock", timeout=START_SECONDS):
            yield
    except Timeout as error:
        raise ServerError(
            f"Another process has been starting the Prefect server of {home} for more than "
            f"{START_SECONDS:.0f} s. {log_tail(home)}"
        ) from error


def is_served(home: Path) -> bool:
    """Whether a live server holds `home`; what server.json says of a dead one does not count."""
    try:
        with FileLock(home / "serving.lock", timeout=0):
            (home / "server.json").unlink(missing_ok=True)
            return False
    except Timeout:
        return True


def start(home: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own, so that Ctrl-C in a terminal is not for it."""
    with (home / "server.log").open("wb") as log:
        return subprocess.Popen(
            # -P: the working folder must not shadow libraries
            [
                sys.executable,
                "-P",
                "-m",
                "flows.runtime.server_process",
                str(home.absolute()),
                str(port),
            ],
            env={**os.environ, **prefect_environment(home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_until_healthy(home: Path, server: subprocess.Popen[bytes] | None) -> ServerRecord:
    """The record of the server once it answers; sets PREFECT_API_URL as soon as it is known."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server is not None and server.poll() is not None:
            raise ServerError(
                f"The Prefect server ended with code {server.returncode}. {log_tail(home)}"
            )
        if record := read_record(home):
            os.environ["PREFECT_API_URL"] = record.api_url
            load_prefect()
            if is_healthy(record.api_url):
                return record
        time.sleep(0.05)
    raise ServerError(
        f"The Prefect server did not answer within {START_SECONDS:.0f} s. {log_tail(home)}"
    )


def load_prefect() -> None:
    """Import what every flow needs: done while the server starts, it saves about 3 s of waiting."""
    import prefect.artifacts
    import prefect.flows  # noqa: F401
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()  # where it was imported before, it reads the URL now
    # A failed run's traceback is on its page in the UI; in the terminal the command says what
    # went wrong itself, and raises what it did not expect.
    for name in ("prefect.task_runs", "prefect.flow_runs"):
        logging.getLogger(name).propagate = False


def read_record(home: Path) -> ServerRecord | None:
    """What server.json says, or None where there is none."""
    try:
        return ServerRecord.model_validate_json((home / "server.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def is_healthy(api_url: str) -> bool:
    """Whether our own server answers."""
    try:
        answer = httpx.get(f"{api_url}/health", timeout=ANSWER_SECONDS, trust_env=False)
        return answer.is_success
    except httpx.HTTPError:
        return False


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server: SIGTERM, and SIGKILL if that is not enough."""
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def log_tail(home: Path, lines: int = 15) -> str:
    """The last lines of the server's log, with where the rest is."""
    path = home / "server.log"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return f"Its log, {path}, ends:\n" + "\n".join(text.splitlines()[-lines:])
