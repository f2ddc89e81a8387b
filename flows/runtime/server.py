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

import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_SH, flock
from pathlib import Path
from typing import IO

import httpx

from flows.runtime.failure_logs import log_messages_alone
from flows.runtime.history import flush_history
from flows.runtime.login import read_password
from flows.runtime.server_record import (
    ANSWER_SECONDS,
    ServerError,
    ServerLost,
    ServerRecord,
    is_gone,
    is_healthy,
    is_served,
    list_versions,
    read_log_tail,
    read_record,
)
from flows.runtime.server_start import start_server
from flows.runtime.server_users import (
    START_SECONDS,
    hold_start_lock,
    hold_users_lock,
    is_last_user,
)
from flows.runtime.settings import away_from_projects, load_keep_minutes
from tasks.errors import ExpectedError
from tasks.warehouse.errors import NoRoom

STOP_SECONDS = 10.0
"""How long a server may take to end after SIGTERM before it is killed."""
SEND_SECONDS = 60.0
"""How long the rest of the history may take at the end of a run."""
SEND_INTERRUPTED_SECONDS = 5.0
"""The same for a run that was interrupted or failed."""
HISTORY_BYTES = 10_000_000
"""Room that a run's history needs at the least."""


@contextmanager
def local_server(
    home: Path, port: int = 0, meanwhile: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """Yield the API's URL, and set PREFECT_API_URL to it while the context is open.

    A configured PREFECT_API_URL is used unchanged. Otherwise this joins the running server of
    `home`, or starts one on the loopback `port` (0: any free one). It stays for some minutes after
    its last user, even a killed one (`load_keep_minutes`); one of other versions that nobody uses
    is replaced. Prefect is imported, and `meanwhile` called, while the server starts.

    Raises:
        ServerError: the configured server does not answer, or ours does not start.
        ServerLost: ours is gone, and the context could not do its work.
        NoFileLocks: the home's file system has no locks.
        PasswordError: others can read the home's password.
    """
    if configured := os.environ.get("PREFECT_API_URL"):
        check_configured_server(configured)
        load_prefect()
        read_settings()
        meanwhile()
        with send_history():
            yield configured
        return
    login = os.environ.get("PREFECT_API_AUTH_STRING")  # of another server than ours
    keep_minutes = load_keep_minutes()
    with hold_users_lock(home) as users:
        server: subprocess.Popen[bytes] | None = None
        try:
            with hold_start_lock(home):
                os.environ["PREFECT_API_AUTH_STRING"] = read_password(home)
                server = join_or_start(home, port, users)
                load_prefect()
                meanwhile()
                record = wait_until_healthy(home, server)
            _joined[record.api_url] = home
            with send_history():
                yield record.api_url
        finally:
            stays = bool(keep_minutes and _joined)
            _joined.clear()
            os.environ.pop("PREFECT_API_URL", None)
            os.environ.pop("PREFECT_API_AUTH_STRING", None)
            if login is not None:
                os.environ["PREFECT_API_AUTH_STRING"] = login
            if (started := server) and not stays and is_last_user(users):
                stop_process(started.pid, lambda: started.poll() is not None)


def join_or_start(home: Path, port: int, users: IO[str]) -> subprocess.Popen[bytes] | None:
    """Start a server, unless one of our versions, or one that somebody else uses, is there."""
    record = read_record(home) if is_served(home) else None
    if record and record.versions != list_versions():
        if is_last_user(users):
            stop_server(home)
        flock(users, LOCK_SH)  # again
    if is_served(home):
        return None
    check_room([home])
    return start_server(home, port)


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


_joined: dict[str, Path] = {}
"""The home of the local server in use, by the API's URL."""


def is_lost() -> bool:
    """Whether the local server in use is gone; a configured one may always come back."""
    return any(is_gone(home, api_url) for api_url, home in _joined.items())


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


def wait_until_healthy(home: Path, server: subprocess.Popen[bytes] | None) -> ServerRecord:
    """Wait until the server answers; set PREFECT_API_URL, and return its record."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server is not None and server.poll() is not None:
            raise ServerError(
                f"The Prefect server ended with code {server.returncode}. {read_log_tail(home)}"
            )
        if (record := read_record(home)) and is_healthy(record.api_url):
            os.environ["PREFECT_API_URL"] = record.api_url
            read_settings()
            return record
        time.sleep(0.05)
    raise ServerError(
        f"The Prefect server did not answer within {START_SECONDS:.0f} s. {read_log_tail(home)}"
    )


def load_prefect() -> None:
    """Import what every flow needs; done while the server starts, this saves about 3 s."""
    with away_from_projects():
        import prefect.artifacts
        import prefect.flows
        import prefect.main  # noqa: F401  # sets up logging

    log_messages_alone()
    logging.raiseExceptions = False  # its log worker would print each batch that it cannot send
    # A failed run's traceback is on its page in the UI; in the terminal the command prints the
    # error itself, and raises unexpected ones.
    for name in ("prefect.task_runs", "prefect.flow_runs"):
        logging.getLogger(name).propagate = False


def read_settings() -> None:
    """Have Prefect read the environment again, which has another URL since it was imported."""
    from prefect.context import refresh_global_settings_context

    with away_from_projects():
        refresh_global_settings_context()


def stop_server(home: Path) -> None:
    """Stop the server of `home`, of which the caller is the last user."""
    if record := read_record(home):
        stop_process(record.pid, lambda: not is_served(home))


def stop_process(pid: int, ended: Callable[[], bool]) -> None:
    """Stop a process with SIGTERM, then with SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + STOP_SECONDS
        if not ended():
            os.kill(pid, number)
        while not ended() and time.monotonic() < deadline:
            time.sleep(0.02)
