"""The Prefect server in use: the one that PREFECT_API_URL names, or a local one on demand.

Prefect reads its settings on its first import, so set them before and import it inside:

    os.environ.update(prefect_environment(home))
    with local_server(home):
        from flows.evaluate import evaluate
        ...

`home` is Prefect's folder (data/prefect): the history (prefect.db, SQLite in WAL mode, which
survives a killed server), results (storage/), the record of the running server (server.json), its
password and its log (server.log). server_process.py is the server.
"""

import fcntl
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
from filelock import Timeout
from pydantic import ValidationError

from flows.runtime.history import flush_history
from flows.runtime.login import login_address, password_file, read_password
from flows.runtime.settings import prefect_environment
from tasks.base import Frozen
from tasks.errors import ExpectedError
from tasks.files.locks import explain_no_locks, hold_lock
from tasks.warehouse.errors import NoRoom

START_SECONDS = 90.0
"""How long a server may take to start; the first start creates the database."""
ANSWER_SECONDS = 30.0
"""How long one response may take; a busy server needs a few seconds."""
STOP_SECONDS = 10.0
"""How long a server may take to end after SIGTERM before it is killed."""
SEND_SECONDS = 60.0
"""How long the rest of the history may take at the end of a run."""
SEND_INTERRUPTED_SECONDS = 5.0
"""The same for a run that was interrupted or failed."""
HISTORY_BYTES = 10_000_000
"""Room that a run's history needs at the least."""
UI_PORT = 4200
LOG_LINES = 15
"""How much of the server's log an error message shows."""


class ServerError(ExpectedError, RuntimeError):
    """No Prefect server is available; the message says why and what to do."""


class ServerLost(ServerError):
    """The local server of a run is gone."""

    def __init__(self) -> None:
        super().__init__(
            "The local Prefect server has ended while it was in use (was it killed, or is memory "
            "or disk short?). Committed work is kept; run again to resume."
        )


class ServerRecord(Frozen):
    """The content of server.json: the running server."""

    pid: int
    port: int

    @property
    def api_url(self) -> str:
        """The value for PREFECT_API_URL."""
        return f"http://127.0.0.1:{self.port}/api"


@contextmanager
def local_server(home: Path, port: int = 0) -> Iterator[str]:
    """Yield the API's URL, and set PREFECT_API_URL to it while the context is open.

    A configured PREFECT_API_URL is used unchanged. Otherwise this joins the running server of
    `home`, or starts one on the loopback `port` (0: any free one); it ends with its last user, even
    a killed one. Prefect is imported while the server starts, and knows the home's password.

    Raises:
        ServerError: the configured server does not answer, or ours does not start.
        ServerLost: ours is gone, and the context could not do its work.
        NoFileLocks: the home's file system has no locks.
        PasswordError: others can read the home's password.
    """
    if configured := os.environ.get("PREFECT_API_URL"):
        check_configured_server(configured)
        load_prefect()
        with send_history():
            yield configured
        return
    login = os.environ.get("PREFECT_API_AUTH_STRING")  # of another server than ours
    with hold_users_lock(home) as users:
        server: subprocess.Popen[bytes] | None = None
        try:
            with hold_start_lock(home):
                password = read_password(home)
                if not is_served(home):
                    check_room([home])
                    server = start_server(home, port, password)
                os.environ["PREFECT_API_AUTH_STRING"] = password
                record = wait_until_healthy(home, server)
            _joined[record.api_url] = home
            with send_history():
                yield record.api_url
        finally:
            _joined.clear()
            os.environ.pop("PREFECT_API_URL", None)
            os.environ.pop("PREFECT_API_AUTH_STRING", None)
            if login is not None:
                os.environ["PREFECT_API_AUTH_STRING"] = login
            if server is not None and is_last_user(users):
                stop_server(server)


def serve_ui(home: Path, port: int) -> None:
    """Serve the Prefect UI until Ctrl-C (`evergreen ui`).

    Runs started meanwhile join this server; if a run's server is up, this joins it and keeps it up
    until Ctrl-C. With a configured PREFECT_API_URL this only prints the address of its UI.
    """
    configured = bool(os.environ.get("PREFECT_API_URL"))
    with local_server(home, port) as api_url:
        address = api_url.removesuffix("/api")
        if configured:
            print(f"Prefect UI: {address}")
            return
        if sys.stdout.isatty():
            print(f"Prefect UI: {login_address(address, read_password(home))}")
        else:  # a log is no place for a password
            print(f"Prefect UI: {address} (the password is in {password_file(home)})")
        print("Press Ctrl-C to stop.", flush=True)
        try:
            while is_served(home):  # not is_healthy: a busy server may answer late
                time.sleep(2)
        except KeyboardInterrupt:
            return
    raise ServerError(f"The server ended unexpectedly. {read_log_tail(home)}")


def check_configured_server(api_url: str) -> None:
    """Raise ServerError, naming the URL and what to do, unless a Prefect API answers there."""
    try:
        answer = httpx.get(f"{api_url.rstrip('/')}/health", timeout=ANSWER_SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        problem = f"does not answer ({error})"
    else:
        if answer.status_code in (200, 401, 403):  # 401, 403: no key was sent; Prefect sends it
            return
        problem = f"answers {answer.status_code}: it is no Prefect API (whose path ends in /api)"
    raise ServerError(
        f"PREFECT_API_URL is {api_url}, which {problem}. Start that server, correct the address, "
        "or unset PREFECT_API_URL to use a local server."
    )


def is_local() -> bool:
    """Whether the API in use is a local server of ours, not a configured one."""
    record = read_record(Path(os.environ.get("PREFECT_HOME", "")))
    return record is not None and record.api_url == os.environ.get("PREFECT_API_URL")


@contextmanager
def hold_users_lock(home: Path) -> Iterator[IO[str]]:
    """Hold the shared lock that keeps the server of `home` alive (see server_process.py).

    Wait for a server that is ending.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        users = (home / "users.lock").open("a")
    except OSError as error:
        raise ServerError(
            f"Cannot write to Prefect's folder {home} ({error.strerror}). Make it writable, or set "
            "PREFECT_API_URL to a server that runs elsewhere."
        ) from error
    with users:
        with explain_no_locks(home):
            fcntl.flock(users, fcntl.LOCK_SH)
        yield users


def is_last_user(users: IO[str]) -> bool:
    """Whether nobody else uses the server; if so, take the lock, so that nobody can join it."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def hold_start_lock(home: Path) -> Iterator[None]:
    """Let one process at a time look for a server and start one."""
    try:
        with hold_lock(home / "starting.lock", START_SECONDS):
            yield
    except Timeout as error:
        raise ServerError(
            f"Another process has been starting the Prefect server of {home} for more than "
            f"{START_SECONDS:.0f} s. {read_log_tail(home)}"
        ) from error


def is_served(home: Path) -> bool:
    """Whether a live server holds `home`; delete the server.json of a dead one."""
    try:
        with hold_lock(home / "serving.lock", 0):
            (home / "server.json").unlink(missing_ok=True)
            return False
    except Timeout:
        return True


_joined: dict[str, Path] = {}
"""The home of the local server in use, by the API's URL."""


def is_lost() -> bool:
    """Whether the local server in use is gone; a configured one may always come back."""
    return any(is_gone(home, api_url) for api_url, home in _joined.items())


def is_gone(home: Path, api_url: str) -> bool:
    """Whether the server of `home` at `api_url` is gone, even if another has been started since."""
    record = read_record(home) if is_served(home) else None
    return record is None or record.api_url != api_url


@contextmanager
def send_history() -> Iterator[None]:
    """Send the rest of the history at the end of the context. Once the server is lost, drop what
    anyone logs about it, and raise `ServerLost` in place of unexpected errors."""

    def is_worth_saying(record: logging.LogRecord) -> bool:
        return record.levelno < logging.WARNING or not is_lost()

    handlers = [*logging.getLogger().handlers, *logging.getLogger("prefect._internal").handlers]
    for handler in handlers:
        handler.addFilter(is_worth_saying)
    seconds = SEND_INTERRUPTED_SECONDS
    try:
        yield
        seconds = SEND_SECONDS
    except Exception as error:
        if not isinstance(error, ExpectedError):
            if is_lost():
                raise ServerLost from None
            check_room(_joined.values())
        raise
    finally:
        if not is_lost():
            flush_history(seconds)
        for handler in handlers:
            handler.removeFilter(is_worth_saying)


def check_room(homes: Iterable[Path]) -> None:
    """Raise NoRoom if a server of ours cannot keep a history."""
    for home in homes:
        if shutil.disk_usage(home).free < HISTORY_BYTES:
            raise NoRoom.met(f"{home}, Prefect's folder")


def start_server(home: Path, port: int, password: str) -> subprocess.Popen[bytes]:
    """Start the server in its own session, so that Ctrl-C in the terminal does not stop it."""
    # -P: the working folder must not shadow libraries
    command = (sys.executable, "-P", "-m", "flows.runtime.server_process")
    settings = prefect_environment(home) | {"PREFECT_SERVER_API_AUTH_STRING": password}
    with (home / "server.log").open("wb") as log:
        return subprocess.Popen(
            [*command, str(home.absolute()), str(port)],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_until_healthy(home: Path, server: subprocess.Popen[bytes] | None) -> ServerRecord:
    """Wait until the server answers; return its record. Set PREFECT_API_URL as soon as known."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server is not None and server.poll() is not None:
            raise ServerError(
                f"The Prefect server ended with code {server.returncode}. {read_log_tail(home)}"
            )
        if record := read_record(home):
            os.environ["PREFECT_API_URL"] = record.api_url
            load_prefect()
            if is_healthy(record.api_url):
                return record
        time.sleep(0.05)
    raise ServerError(
        f"The Prefect server did not answer within {START_SECONDS:.0f} s. {read_log_tail(home)}"
    )


def load_prefect() -> None:
    """Import what every flow needs; done while the server starts, this saves about 3 s."""
    import prefect.artifacts
    import prefect.flows
    import prefect.main  # noqa: F401  # sets up logging
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()  # if it was imported before, it reads the URL now
    logging.raiseExceptions = False  # its log worker would print each batch that it cannot send
    # A failed run's traceback is on its page in the UI; in the terminal the command prints the
    # error itself, and raises unexpected ones.
    for name in ("prefect.task_runs", "prefect.flow_runs"):
        logging.getLogger(name).propagate = False


def read_record(home: Path) -> ServerRecord | None:
    """Read server.json; return None if it is missing or invalid."""
    try:
        return ServerRecord.model_validate_json((home / "server.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def is_healthy(api_url: str) -> bool:
    """Whether our own server answers."""
    try:
        return httpx.get(f"{api_url}/health", timeout=ANSWER_SECONDS, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def stop_server(server: subprocess.Popen[bytes]) -> None:
    """Stop the server with SIGTERM, then with SIGKILL."""
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def read_log_tail(home: Path) -> str:
    """Return the log's path and its last lines, as a part of an error message."""
    path = home / "server.log"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return f"Its log, {path}, ends:\n" + "\n".join(text.splitlines()[-LOG_LINES:])
