"""The local Prefect server, as a process of its own.

    python -m flows.runtime.server_process HOME PORT

It lives exactly as long as somebody uses it. Every user (a flow, `evergreen ui`) holds a shared
lock on HOME/users.lock, which the kernel releases even after `kill -9`; once this process can
take that lock for itself nobody is left, and it ends. So no server outlives its users, and a
server that one flow started stays for another that joined it.

It holds HOME/serving.lock all its life: two servers never share one SQLite file. Started by
`flows.runtime.server.local_server`, with the settings of `flows.runtime.settings`.
"""

import fcntl
import gc
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from flows.runtime.server_database import create_database, write_immediately

if TYPE_CHECKING:
    import uvicorn

CHECK_SECONDS = 0.25
"""How often the process looks whether it still has users."""
GRACE_SECONDS = 10.0
"""How long a graceful end may take before the process leaves without it."""
COLLECT_SECONDS = 2.0
"""How often garbage is collected."""


def main(home: Path, port: int) -> int:
    """Serve the API and the UI on the loopback `port` (any free one if it is 0 or taken)."""
    lock = FileLock(home / "serving.lock")
    try:
        lock.acquire(timeout=5)  # others hold it for a moment when they look whether we serve
    except Timeout:
        print(f"another server already serves {home}", file=sys.stderr)
        return 1
    threading.Thread(target=end_after_last_user, args=(home,), daemon=True).start()
    listener = listen(port)
    port = listener.getsockname()[1]
    os.environ.update(server_settings(home, port))
    record(home, port)
    create_database(home / "prefect.db")
    serve(listener, port)
    return 0


def end_after_last_user(home: Path) -> None:
    """Watch the users' lock; when it is free take it, and end this process.

    The lock stays taken to the end, so a newcomer waits until this server has gone instead of
    joining one that is ending.
    """
    with (home / "users.lock").open("a") as users:
        while True:
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(CHECK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        os._exit(1)


def listen(port: int) -> socket.socket:
    """Bind the loopback `port`, or any free one where it is taken. No race: we keep the socket."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


def server_settings(home: Path, port: int) -> dict[str, str]:
    """Prefect's settings for this server.

    Writing in batches is what lets the history keep up: by default each event of each task run
    is a transaction of its own. Batches of one second, because Prefect cuts the interval to a
    whole number and 0 would spin. Services that look after workers and automations, which a
    server for local runs does not have, are off.
    """
    services = "PREFECT_SERVER_SERVICES_"
    address = f"http://127.0.0.1:{port}"
    unused = ("TRIGGERS", "FOREMAN", "REPOSSESSOR", "CLEANUP_RECONCILER", "PAUSE_EXPIRATIONS")
    return {
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home / 'prefect.db'}",
        "PREFECT_SERVER_UI_API_URL": f"{address}/api",
        # Of all pages a browser may have open only our own may call the API.
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"{address},http://localhost:{port}",
        "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
        f"{services}TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
        f"{services}TASK_RUN_RECORDER_BATCH_SIZE": "100",
        f"{services}TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        f"{services}EVENT_PERSISTER_READ_BATCH_SIZE": "100",
        f"{services}EVENT_PERSISTER_BATCH_SIZE": "100",
        f"{services}EVENT_PERSISTER_FLUSH_INTERVAL": "1",
        **{f"{services}{name}_ENABLED": "false" for name in unused},
    }


def record(home: Path, port: int) -> None:
    """Write HOME/server.json in one step: a reader sees a whole record or none."""
    draft = home / "server.json.new"
    draft.write_text(json.dumps({"pid": os.getpid(), "port": port}), encoding="utf-8")
    draft.replace(home / "server.json")


def serve(listener: socket.socket, port: int) -> None:
    """Run the server until SIGTERM. Imported late: Prefect reads its settings on import."""
    import uvicorn
    from prefect.server.api.server import create_app

    write_immediately()
    config = uvicorn.Config(
        create_app(final=True),
        log_level="warning",
        headers=[("Content-Security-Policy", content_security_policy(port))],
        timeout_graceful_shutdown=2,  # an open UI keeps a socket, which must not hold us up
    )
    server = uvicorn.Server(config)
    gc.disable()
    threading.Thread(target=collect_garbage, args=(server,), daemon=True).start()
    server.run(sockets=[listener])


def collect_garbage(server: "uvicorn.Server") -> None:
    """Collect cyclic garbage in this thread, never in the event loop's.

    A forgotten SQLite cursor resets its statement when it is collected, and waits for a mutex
    that a thread holds while it waits for the database's write lock. In the event loop's thread
    that would be a deadlock, as the owner of the lock cannot commit until the loop goes on; only
    SQLite's busy timeout, a minute, would end it. Waiting here stops nobody.
    """
    while not server.started:
        time.sleep(CHECK_SECONDS)
    gc.collect()
    gc.freeze()  # what start-up made stays for good
    while True:
        time.sleep(COLLECT_SECONDS)
        gc.collect()


def content_security_policy(port: int) -> str:
    """Let the UI talk to this server only.

    The second version of Prefect's UI calls its makers' usage statistics when it loads, before
    it asks whether statistics are off. The browser stops that, and pictures from elsewhere in
    artifacts with it.
    """
    local = f"'self' http://127.0.0.1:{port} ws://127.0.0.1:{port}"
    return (
        f"default-src {local} data: blob: 'unsafe-inline' 'unsafe-eval'; "
        "object-src 'none'; frame-ancestors 'self'"
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
