"""Put a load on the Prefect server: six small served runs at once, on SQLite and on PostgreSQL.

python -m tests.bench.bench_prefect [--seconds 60] [--times 1] [--only sqlite|postgres]

Ends with 1 unless every answer was 2xx, none took 5 s, and 30 a second came.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from flows.runtime.server_database import create_database, write_immediately
from flows.runtime.server_process import (
    listen,
    own_names,
    serve,
    server_settings,
)
from flows.runtime.server_record import is_healthy
from flows.runtime.settings import prefect_environment
from tests.rigs.postgres import missing, running

LOAD = Path(__file__).resolve().parents[3] / "shared" / "tools" / "prefect_load" / "load.py"
CLIENTS = 6
STARTS_WITHIN_SECONDS = 90
URL = "PREFECT_SERVER_DATABASE_CONNECTION_URL"


def main() -> int:
    """Read the command line, load each server, print the figures."""
    parser = argparse.ArgumentParser(description="Put a load on the Prefect server.")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", choices=["sqlite", "postgres"])
    asked = parser.parse_args()
    if not LOAD.is_file():
        print(f"Skipped: {LOAD} is not there.")
        return 0
    codes = []
    with TemporaryDirectory() as folder:
        if asked.only != "postgres":
            with served(Path(folder)) as api:
                codes += [loaded("SQLite", api, asked.seconds) for _ in range(asked.times)]
        if asked.only != "sqlite":
            if reason := missing():
                print(f"Skipped: {reason}.")
                return max(codes, default=0)
            with running(Path(folder)) as postgres:
                postgres.create("prefect")
                with served(Path(folder), postgres.url("prefect")) as api:
                    codes += [loaded("PostgreSQL", api, asked.seconds) for _ in range(asked.times)]
    return max(codes)


def loaded(name: str, api: str, seconds: int) -> int:
    """Load a server for some seconds; the exit code of the load."""
    print(f"{name}: ", end="", flush=True)
    command = [sys.executable, str(LOAD), api, str(CLIENTS), str(seconds)]
    return subprocess.run(command, check=False).returncode


@contextmanager
def served(home: Path, database: str = "") -> Iterator[str]:
    """Our server's API, on a database of this `home` unless another one is named."""
    with listen(0) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-c", f"from {__spec__.name} import child; child()"]
    command += [str(home), str(port), database]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        api = f"http://127.0.0.1:{port}/api"
        deadline = time.monotonic() + STARTS_WITHIN_SECONDS
        while not is_healthy(api):
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit((home / "server.log").read_text("utf-8"))
            time.sleep(0.1)
        yield api
    finally:
        server.terminate()
        server.wait()


def child() -> None:
    """Serve: `HOME PORT DATABASE`, all of them arguments of the process."""
    home, port, database = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    settings = prefect_environment(home) | server_settings(home, port)
    if database:
        settings[URL] = database
    os.environ.update(settings)
    if not database:
        create_database(home / "prefect.db")
        write_immediately()
    serve(listen(port), own_names(port), f"http://127.0.0.1:{port}")


if __name__ == "__main__":
    sys.exit(main())
