"""`evergreen ui`: Prefect's UI at a local server, and the end of that server."""

import os
import sys
import time
from pathlib import Path

from flows.runtime.login import login_address, password_file, read_password
from flows.runtime.server import local_server, stop_server
from flows.runtime.server_record import ServerError, is_served, read_log_tail, read_record
from flows.runtime.server_users import hold_users_lock, is_last_user, list_users
from flows.runtime.settings import load_keep_minutes

UI_PORT = 4200


def serve_ui(home: Path, port: int | None) -> None:
    """Serve the Prefect UI until Ctrl-C.

    Runs started meanwhile join this server; if a server is up, this joins it and keeps it up until
    Ctrl-C. With a configured PREFECT_API_URL this only prints the address of its UI.

    port: the one that was asked for; None: UI_PORT, or the running server's.
    """
    configured, before = bool(os.environ.get("PREFECT_API_URL")), read_record(home)
    with local_server(home, port or UI_PORT) as api_url:
        address = api_url.removesuffix("/api")
        if configured:
            print(f"Prefect UI: {address}")
            return
        if port and not address.endswith(f":{port}"):
            taken = "Another program uses it"
            if before == read_record(home):
                taken = "The server runs already; evergreen ui --stop ends it"
            print(f"Not at port {port}: {taken}.")
        if sys.stdout.isatty():
            print(f"Prefect UI: {login_address(address, read_password(home))}")
        else:  # a log is no place for a password
            print(f"Prefect UI: {address} (the password is in {password_file(home)})")
        minutes = load_keep_minutes()
        stays = f" The server then stays for {minutes:g} minutes; to end it: evergreen ui --stop"
        print(f"Press Ctrl-C to stop.{stays if minutes else ''}", flush=True)
        try:
            while is_served(home):  # not is_healthy: a busy server may answer late
                time.sleep(2)
        except KeyboardInterrupt:
            return
    raise ServerError(f"The server ended unexpectedly. {read_log_tail(home)}")


def stop_ui(home: Path) -> None:
    """End the server of `home` that has stayed after its last user (`evergreen ui --stop`).

    Raises:
        ServerError: somebody uses it, who is named; or it is none of ours.
    """
    if configured := os.environ.get("PREFECT_API_URL"):
        raise ServerError(f"PREFECT_API_URL is {configured}: end that server where it runs.")
    with hold_users_lock(home) as users:
        if not is_last_user(users):
            named = "; ".join(list_users(home)) or "a run, evergreen serve or evergreen ui"
            raise ServerError(f"The Prefect server of {home} is in use by {named}. End that first.")
        served = is_served(home)
        if served:
            stop_server(home)
    print(f"The Prefect server of {home} {'has ended' if served else 'was not running'}.")
