"""The record of a home's running server (server.json), and what is said of one that fails."""

from importlib.metadata import version
from pathlib import Path

import httpx
from filelock import Timeout
from pydantic import ValidationError

from tasks.base import Frozen
from tasks.errors import ExpectedError
from tasks.files.locks import hold_lock

ANSWER_SECONDS = 30.0
"""How long one response may take; a busy server needs a few seconds."""
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
    versions: str = ""
    """As `list_versions` gave them when it started."""

    @property
    def api_url(self) -> str:
        """The value for PREFECT_API_URL."""
        return f"http://127.0.0.1:{self.port}/api"


def list_versions() -> str:
    """Name the installed versions of what a server is made of."""
    return ", ".join(f"{name} {version(name)}" for name in ("evergreen-bench", "prefect"))


def read_record(home: Path) -> ServerRecord | None:
    """Read server.json; return None if it is missing or invalid."""
    try:
        return ServerRecord.model_validate_json((home / "server.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_record(home: Path, record: ServerRecord) -> None:
    """Write server.json atomically: a reader sees a whole record or none."""
    draft = home / "server.json.new"
    draft.write_text(record.model_dump_json(), encoding="utf-8")
    draft.replace(home / "server.json")


def is_served(home: Path) -> bool:
    """Whether a live server holds `home`; delete the server.json of a dead one."""
    try:
        with hold_lock(home / "serving.lock", 0):
            (home / "server.json").unlink(missing_ok=True)
            return False
    except Timeout:
        return True


def is_gone(home: Path, api_url: str) -> bool:
    """Whether the server of `home` at `api_url` is gone, even if another has been started since."""
    record = read_record(home) if is_served(home) else None
    return record is None or record.api_url != api_url


def is_healthy(api_url: str) -> bool:
    """Whether our own server answers."""
    try:
        # Plain HTTP: without `verify` no certificates are loaded, which takes a tenth of a second.
        health = httpx.get(
            f"{api_url}/health", timeout=ANSWER_SECONDS, trust_env=False, verify=False
        )
    except httpx.HTTPError:
        return False
    return health.is_success


def read_log_tail(home: Path) -> str:
    """Return the log's path and its last lines, as a part of an error message."""
    path = home / "server.log"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return f"Its log, {path}, ends:\n" + "\n".join(text.splitlines()[-LOG_LINES:])
