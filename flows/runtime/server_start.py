"""Start the local server's process, early: its imports take seconds.

A command that may run a flow prepares a server before it imports anything: a process that imports
Prefect, and serves nothing until it is told to. It ends with a command that needs no server.
"""

import os
import subprocess
import sys
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from flows.runtime.settings import prefect_home, server_environment

LOG_BYTES = 10_000_000
"""A longer log of earlier servers is not kept."""
START = b"start\n"
"""What the process reads to begin to serve."""

_prepared: dict[Path, subprocess.Popen[bytes]] = {}


def prepare_server() -> None:
    """Prepare a server, unless one is there or configured."""
    home = prefect_home().absolute()
    if os.environ.get("PREFECT_API_URL") or not home.is_dir():
        return
    with suppress(OSError):  # a server is there, or the command will say what is the matter
        with (home / "serving.lock").open("a") as lock:
            flock(lock, LOCK_EX | LOCK_NB)
        _prepared[home] = _spawn(home, 0)


def start_server(home: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the server of `home`, or let the prepared one begin."""
    prepared = _prepared.pop(home.absolute(), None) if port == 0 else None
    server = prepared or _spawn(home, port)
    assert server.stdin is not None
    with suppress(OSError):  # it has ended: who waits for it will see
        server.stdin.write(START)
        server.stdin.close()
    return server


def _spawn(home: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the process in its own session, so that Ctrl-C in the terminal does not stop it."""
    # -P: the working folder must not shadow libraries. Nor is it the server's, which lives on
    # after the command, and would read another project's settings there.
    command = (sys.executable, "-P", "-m", "flows.runtime.server_process")
    path = home / "server.log"
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_BYTES:
            path.unlink()
    with path.open("ab") as log:
        return subprocess.Popen(
            [*command, str(home.absolute()), str(port)],
            cwd=home,
            env=server_environment(home),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
