"""The process of the local Prefect server.

    python -m flows.runtime.server_process HOME PORT

It imports Prefect, and serves nothing until it reads a line on standard input: a command prepares
it early (server_start.py), and ends it by closing that if it needs none.

Every user (a flow, `evergreen ui`) holds a shared lock on HOME/users.lock, which the kernel
releases even after `kill -9`; while this process can lock it exclusively, nobody is left. After
EVERGREEN_SERVER_MINUTES of that it ends.

It holds HOME/serving.lock while it runs, so two servers never share one SQLite file.
"""

import fcntl
import gc
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from filelock import FileLock, Timeout

from flows.runtime.login import LoginPage, read_password
from flows.runtime.server_database import create_database, write_immediately
from flows.runtime.server_record import ServerRecord, list_versions, write_record
from flows.runtime.settings import load_keep_minutes
from tasks.serving.connections import BoundedServer
from tasks.serving.gate import LOOPBACK_NAMES, Gate, OwnNames

CHECK_SECONDS = 0.25
"""How often the process checks whether it still has users."""
GRACE_SECONDS = 10.0
"""How long a graceful shutdown may take before the process exits."""
COLLECT_SECONDS = 2.0
"""The interval between garbage collections."""
BATCHED_WRITES = {
    f"PREFECT_SERVER_SERVICES_{service}_{setting}": value
    for service in ("TASK_RUN_RECORDER", "EVENT_PERSISTER")
    for setting, value in (
        ("READ_BATCH_SIZE", "100"),
        ("BATCH_SIZE", "100"),
        ("FLUSH_INTERVAL", "1"),
    )
}
"""Lets the history keep up: by default each event is its own transaction. The interval is one
second, because Prefect truncates it to an integer and 0 would spin."""


def main(home: Path, port: int) -> int:
    """Serve the API and the UI on the loopback `port` (any free one if it is 0 or taken)."""
    told = threading.Event()
    threading.Thread(target=await_start, args=(told,), daemon=True).start()
    listener = listen(port)
    port = listener.getsockname()[1]
    os.environ.update(server_settings(home, port))
    gc.disable()
    import prefect.server.api.server  # noqa: F401  # takes seconds

    told.wait()
    os.ftruncate(sys.stdout.fileno(), 0)  # the log of the server before
    lock = FileLock(home / "serving.lock")
    try:
        lock.acquire(timeout=5)  # `is_served` holds it for a moment
    except Timeout:
        print(f"another server already serves {home}", file=sys.stderr)
        return 1
    threading.Thread(
        target=end_after_last_user, args=(home, 60 * load_keep_minutes()), daemon=True
    ).start()
    write_record(home, ServerRecord(pid=os.getpid(), port=port, versions=list_versions()))
    create_database(home / "prefect.db")
    write_immediately()
    serve(listener, own_names(port), f"http://127.0.0.1:{port}")
    return 0


def await_start(told: threading.Event) -> None:
    """Wait for a line on standard input, and end this process if there will be none."""
    if not sys.stdin.readline():
        os._exit(0)
    told.set()


def end_after_last_user(home: Path, keep_seconds: float) -> None:
    """Wait until the users' lock has been free for so long, take it, and end this process.

    The lock is kept until the end, so that a new user waits instead of joining an ending server.
    """
    last_used = time.monotonic()
    with (home / "users.lock").open("a") as users:
        while True:
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                last_used = time.monotonic()
            else:
                if time.monotonic() - last_used >= keep_seconds:
                    break
                fcntl.flock(users, fcntl.LOCK_UN)
            time.sleep(CHECK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        os._exit(1)


def listen(port: int) -> socket.socket:
    """Bind the loopback `port`, or any free one if it is taken, and keep the socket: no race."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


def server_settings(home: Path, port: int) -> dict[str, str]:
    """Return Prefect's settings for this server.

    Services for workers are off: a server for local runs has none.
    """
    address = f"http://127.0.0.1:{port}"
    unused = ("FOREMAN", "CLEANUP_RECONCILER", "PAUSE_EXPIRATIONS")
    return {
        "PREFECT_SERVER_API_AUTH_STRING": read_password(home),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home / 'prefect.db'}",
        "PREFECT_SERVER_UI_API_URL": f"{address}/api",
        # Only our own pages may call the API, not others that the browser has open.
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"{address},http://localhost:{port}",
        "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
        # Slots that runs held when an earlier server ended return as well.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage."
        "filesystem",
        **BATCHED_WRITES,
        **{f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false" for name in unused},
    }


def own_names(port: int) -> OwnNames:
    """The names of a server on the loopback, and its own pages' origins."""
    origins = (f"http://{name}:{port}" for name in LOOPBACK_NAMES)
    return OwnNames(frozenset(LOOPBACK_NAMES), frozenset(origins))


def serve(listener: socket.socket, names: OwnNames, address: str) -> None:
    """Run the server until SIGTERM. Imported late: Prefect reads its settings on import.

    address: the one at which browsers reach it.
    """
    from prefect.server.api.server import create_app

    server = BoundedServer(
        Gate(LoginPage(create_app(final=True)), names),
        headers=[("Content-Security-Policy", content_security_policy(address))],
        timeout_graceful_shutdown=2,  # an open UI keeps a socket
    )
    gc.disable()
    threading.Thread(target=collect_garbage, args=(server,), daemon=True).start()
    server.run(sockets=[listener])


def collect_garbage(server: BoundedServer) -> None:
    """Collect cyclic garbage in this thread, never in the event loop's.

    A collected SQLite cursor resets its statement, which waits for a mutex whose holder may be
    waiting for the database's write lock. In the event loop's thread that is a deadlock until
    SQLite's busy timeout of a minute, as the owner of the write lock cannot commit while the loop
    waits. In this thread it blocks nobody.
    """
    while not server.started:
        time.sleep(CHECK_SECONDS)
    gc.collect()
    gc.freeze()  # objects created during start-up stay
    while True:
        time.sleep(COLLECT_SECONDS)
        gc.collect()


def content_security_policy(address: str) -> str:
    """Return the policy that lets the UI talk to this server only.

    The second version of Prefect's UI calls its vendor's usage statistics on load, before it checks
    whether they are off. The policy blocks that, and foreign pictures in artifacts.
    """
    sockets = address.replace("http", "ws", 1)
    return (
        f"default-src 'self' {address} {sockets} data: blob: 'unsafe-inline' 'unsafe-eval'; "
        "object-src 'none'; frame-ancestors 'self'"
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
