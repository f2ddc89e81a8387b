"""docker-compose.yml without an engine: its services together, on a network of their own."""

import ctypes
import secrets
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from tests.compose_file import services
from tests.rigs.image.reporting import report, timed
from tests.rigs.image.services import ComposedServices
from tests.rigs.image.uses import ask_sandbox, count_runs, evaluate_sample
from tests.rigs.postgres import run_databases_script, running

CLONE_NEWNET = 0x40000000
"""Of sched.h; Python names it from 3.12 on."""
POSTGRES_PORT = 5432
PASSWORDS = ("POSTGRES_PASSWORD", "SERVER_DATABASE_PASSWORD", "WORKER_DATABASE_PASSWORD")
SITE = "http://127.0.0.1:8080/"
NOT_TRIED = (
    "Not tried without an engine: read_only, memory limits, published ports, networks apart from "
    "each other, restarts, init, logging."
)


def make_passwords() -> dict[str, str]:
    """Make what a person writes into `.env`; in an address all of it would have to be escaped."""
    given = {name: "p@ss/w:rd %25+#$" + secrets.token_urlsafe(8) for name in PASSWORDS}
    return given | {
        "PREFECT_SERVER_API_AUTH_STRING": f"operator:{secrets.token_urlsafe(16)}",
        "EVERGREEN_SANDBOX_KEY": secrets.token_urlsafe(16),
    }


def enter_empty_network() -> None:
    """Leave the machine's network for one that has a loopback and nothing else."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "a network of its own needs root")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def use_services(composed: ComposedServices) -> None:
    """Start every service, and use them as people do."""
    tried = {*services()}
    with database(composed), composed.started("server"):
        # The worker's health check and the site have the same port.
        with composed.started("worker"):
            with timed("worker: sample evaluated and published by deployments"):
                evaluate_sample(composed.within)
            report(f"server: {count_runs(composed.within)} runs in its history")
            with composed.started("sandbox"):
                ask_sandbox(composed.within)
                report("sandbox: searched with a token")
        with composed.started("site"):
            page = urllib.request.urlopen(SITE, timeout=60).read()
            assert b"<html" in page, page[:1000]
            report("site: serves what was published")
    assert tried == {"postgres", "server", "worker", "sandbox", "site"}, tried
    report(NOT_TRIED)


@contextmanager
def database(composed: ComposedServices) -> Iterator[None]:
    """Debian's Postgres, prepared as a new volume is."""
    service = composed.find("postgres")
    folder = composed.work / "postgres"
    with running(folder, composed.given["POSTGRES_PASSWORD"], POSTGRES_PORT) as postgres:
        [[version]] = postgres.ask("SHOW server_version")
        done = run_databases_script(postgres, {name: composed.given[name] for name in PASSWORDS})
        assert done.returncode == 0, done.stderr
        postgres.ask("SELECT pg_reload_conf()")
        subprocess.run(service["healthcheck"]["test"][1:], check=True, stdout=subprocess.DEVNULL)
        report(f"postgres: healthy; Debian's {version} stands in for {service['image']}")
        yield
