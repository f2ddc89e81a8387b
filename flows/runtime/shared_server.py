"""A Prefect server for several machines, as docker-compose.yml runs it.

    python -m flows.runtime.shared_server --listen 0.0.0.0 --port 4200 --name server

It is Prefect's own server behind our gate. The environment has its settings, above all
PREFECT_SERVER_API_AUTH_STRING (user:password), without which it does not start, and
PREFECT_SERVER_UI_API_URL, the address at which browsers reach it.
"""

import argparse
import os
import socket
import sys
from urllib.parse import urlsplit

from flows.runtime.server_process import BATCHED_WRITES, serve
from tasks.serving.gate import LOOPBACK_NAMES, OwnNames

AUTH = "PREFECT_SERVER_API_AUTH_STRING"
UI_URL = "PREFECT_SERVER_UI_API_URL"
MIN_PASSWORD_CHARS = 12


def main(arguments: list[str]) -> int:
    """Serve until SIGTERM; 2 if something that it needs is missing."""
    given = parse_arguments(arguments)
    address = os.environ.get(UI_URL, f"http://127.0.0.1:{given.port}/api").rstrip("/")
    if problem := find_problem(os.environ.get(AUTH, ""), address):
        print(problem, file=sys.stderr)
        return 2
    origin = address.removesuffix("/api")
    os.environ.update({UI_URL: address, "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": origin})
    for name, value in BATCHED_WRITES.items():
        os.environ.setdefault(name, value)
    names = shared_names(origin, given.port, given.name)
    family = socket.AF_INET6 if ":" in given.listen else socket.AF_INET
    listener = socket.create_server((given.listen, given.port), family=family)
    serve(listener, names, origin)
    return 0


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="shared_server", description=__doc__)
    parser.add_argument("--listen", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=4200)
    parser.add_argument(
        "--name", action="append", default=[], help="a name that clients call it by; repeatable"
    )
    return parser.parse_args(arguments)


def find_problem(auth: str, address: str) -> str | None:
    """Say what is wrong with the settings; None if they can be used."""
    user, _, password = auth.partition(":")
    if not user or len(password) < MIN_PASSWORD_CHARS:
        return (
            f"Set {AUTH} to user:password, with a password of at least {MIN_PASSWORD_CHARS} "
            "characters: whoever reaches this server can otherwise run programs on the workers."
        )
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path != "/api":
        return f"{UI_URL} is {address!r}: expected an address like https://prefect.example.org/api."
    return None


def shared_names(origin: str, port: int, further: list[str]) -> OwnNames:
    """The names that a shared server answers to, and the origins of its own pages."""
    host = urlsplit(origin).hostname or ""
    host = f"[{host}]" if ":" in host else host
    own = (f"http://{name}:{port}" for name in LOOPBACK_NAMES)
    return OwnNames(
        frozenset(name.lower() for name in (*LOOPBACK_NAMES, host, *further)),
        frozenset(each.lower() for each in (origin, *own)),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
