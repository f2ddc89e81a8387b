"""Someone who has taken over a container."""

import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.compose_file import ROOT, compose, services

GIVEN = {
    name: f"secret of {name}"
    for name in (
        "POSTGRES_PASSWORD", "SERVER_DATABASE_PASSWORD", "WORKER_DATABASE_PASSWORD",
        "PREFECT_SERVER_API_AUTH_STRING", "EVERGREEN_SANDBOX_KEY",
    )
}  # fmt: skip
SERVICES = services(GIVEN)


def networks(name: str) -> set[str]:
    return {*SERVICES[name].get("networks", ["default"])}


def reaches(name: str) -> set[str]:
    """The services that share a network with one."""
    return {other for other in SERVICES if other != name and networks(name) & networks(other)}


def test_the_sandbox_reaches_the_worker_alone() -> None:
    """The sandbox has no network with the database, the Prefect server or the site."""
    assert reaches("sandbox") == {"worker"}
    assert reaches("site") == set()
    assert not SERVICES["sandbox"].get("depends_on")


def test_the_database_is_reached_by_its_two_services_alone() -> None:
    """The database is on a network without a way out, with the server and the worker only."""
    assert networks("postgres") == {"database"}
    assert compose(GIVEN)["networks"]["database"] == {"internal": True}
    assert reaches("postgres") == {"server", "worker"}
    assert "ports" not in SERVICES["postgres"]


def secrets_of(name: str) -> set[str]:
    """The required passwords that a container is given."""
    values = SERVICES[name].get("environment", {}).values()
    return {key for key, secret in GIVEN.items() if any(secret in str(v or "") for v in values)}


def test_each_service_has_the_password_it_needs_and_no_other() -> None:
    """A service is given its own database password; the sandbox and the site are given none."""
    login = "PREFECT_SERVER_API_AUTH_STRING"
    assert secrets_of("postgres") == {*GIVEN} - {"EVERGREEN_SANDBOX_KEY", login}
    assert secrets_of("server") == {"SERVER_DATABASE_PASSWORD", login}
    assert secrets_of("worker") == {"WORKER_DATABASE_PASSWORD", login}
    assert secrets_of("sandbox") == set()
    assert secrets_of("site") == set()


def test_the_sandbox_has_no_key_of_a_model() -> None:
    """The sandbox's environment holds the key that agents send, and no other secret."""
    named = {*SERVICES["sandbox"]["environment"]}
    assert {n for n in named if "KEY" in n or "PASS" in n or "AUTH" in n} == {
        "EVERGREEN_SANDBOX_KEY"
    }
    assert "EVERGREEN_WAREHOUSE" not in named
    assert not {n for n in named if n.startswith(("PG", "PREFECT_API", "PREFECT_SERVER_DATABASE"))}


def mounts(name: str) -> dict[str, tuple[str, bool]]:
    """Target → source, and whether it can be written."""
    parts = [volume.split(":") for volume in SERVICES[name].get("volumes", [])]
    return {target: (source, "ro" not in how) for source, target, *how in parts}


def test_the_sandbox_writes_its_index_alone() -> None:
    """The sandbox reads exports and configuration only, and writes only its index."""
    assert mounts("sandbox") == {
        "/srv/evergreen/exports": ("exports", False),
        "/srv/sandbox": ("sandbox", True),
        "/srv/evergreen/configs": ("./configs", False),
    }
    command = " ".join(SERVICES["sandbox"]["command"])
    assert "--index /srv/sandbox" in command
    assert "--exports /srv/evergreen/exports/evergreen" in command
    assert mounts("worker")["/srv/evergreen/exports"] == ("exports", True)


def test_the_sandboxs_index_is_read_by_nobody_else() -> None:
    """What a taken sandbox writes is mounted nowhere else, and so is the database's volume."""
    for volume in ("sandbox", "postgres"):
        users = [n for n in SERVICES if volume in {source for source, _ in mounts(n).values()}]
        assert users == [volume]


def test_no_container_gets_more_of_the_host() -> None:
    """No container gets the Docker socket, the host's network, processes or devices."""
    for service in SERVICES.values():
        assert not {*service} & {"network_mode", "pid", "ipc", "devices", "userns_mode", "cgroup"}
        for volume in service.get("volumes", []):
            assert not volume.startswith("/"), volume
            assert ".." not in volume


def run_digests(folder: Path, tool: str | None) -> subprocess.CompletedProcess[str]:
    """Make digests in a copy of the files, where `tool` answers for a registry."""
    for name in ("docker-compose.yml", "Dockerfile"):
        (folder / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    programs = folder / "bin"
    programs.mkdir()
    if tool is not None:
        crane = programs / "crane"
        crane.write_text(f"#!/bin/sh\n{tool}\n", "utf-8")
        crane.chmod(crane.stat().st_mode | stat.S_IXUSR)
    for name in ("sed", "grep", "sort", "dirname", "sh"):
        found = next(p for p in os.environ["PATH"].split(":") if (Path(p) / name).exists())
        (programs / name).symlink_to(Path(found) / name)
    return subprocess.run(
        [ROOT / "deploy" / "image-digests.sh", folder], env={"PATH": str(programs)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


DIGEST = "sha256:" + "0123456789abcdef" * 4


def test_digests_are_written_behind_every_foreign_image(tmp_path: Path) -> None:
    """`make image-digests` pins every image that is not built here by its digest."""
    done = run_digests(tmp_path, f"echo {DIGEST}")
    assert done.returncode == 0, done.stderr
    composed: dict[str, Any] = compose()
    text = (tmp_path / "docker-compose.yml").read_text("utf-8")
    for service in composed["services"].values():
        image = service["image"].split("@")[0]
        ours = image.startswith("evergreen-bench:")
        assert (f"image: {image}@{DIGEST}\n" in text) is not ours
    lines = (tmp_path / "Dockerfile").read_text("utf-8").splitlines()
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert len(bases) == 2
    assert all(base.endswith(f"@{DIGEST}") for base in bases)


@pytest.mark.parametrize("tool", [None, "exit 1", "echo sha256:short", f"echo x; echo {DIGEST}"])
def test_without_a_registry_nothing_is_written(tmp_path: Path, tool: str | None) -> None:
    """`make image-digests` fails and writes nothing where a registry cannot be asked."""
    done = run_digests(tmp_path, tool)
    assert done.returncode != 0
    assert "image-digests did not run" in done.stderr
    for name in ("docker-compose.yml", "Dockerfile"):
        assert (tmp_path / name).read_text("utf-8") == (ROOT / name).read_text("utf-8")
