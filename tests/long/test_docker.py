"""The image and docker-compose.yml as they are used, wherever a Docker engine answers."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.compose_file import ROOT, environment, services
from tests.rigs.image.composed import make_passwords
from tests.rigs.image.uses import ask_sandbox, count_runs, evaluate_sample, run_deployment

BUILD_SECONDS = 1800
UP_SECONDS = 900
OURS = ("POSTGRES_", "SERVER_", "PREFECT_", "EVERGREEN_", "COMPOSE_", "SANDBOX_", "WORKER_")


def call(
    *command: str, env: dict[str, str] | None = None, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=seconds,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def without(command: tuple[str, ...], what: str) -> str | None:
    """Why a part of Docker is not to be had; None if it is."""
    try:
        done = call(*command)
    except FileNotFoundError:
        return "needs a Docker engine: Docker is not installed"
    except subprocess.TimeoutExpired:
        return f"needs a Docker engine: {what}: no answer"
    said = (done.stderr or done.stdout).strip().splitlines() or ["it failed"]
    return f"needs a Docker engine: {what}: {said[0]}" if done.returncode else None


@dataclass
class Composed:
    """The compose file as a project of its own: its volumes and networks are nobody else's."""

    name: str
    given: dict[str, str]

    def __call__(
        self, *arguments: str, seconds: float = 120, ok: bool = True, profiles: str = ""
    ) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        done = call(
            "docker", "compose", "--project-name", self.name, "--env-file", os.devnull, *arguments,
            env=kept | self.given | {"COMPOSE_PROFILES": profiles}, seconds=seconds,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert (done.returncode == 0) == ok, f"{' '.join(arguments)}:\n{said[-3000:]}{self.logs()}"
        return done.stdout if ok else said

    def logs(self) -> str:
        kept = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
        done = call("docker", "compose", "--project-name", self.name, "--env-file", os.devnull,
                    "logs", "--tail", "40", env=kept | self.given)  # fmt: skip
        return done.stdout[-6000:]

    def within(self, service: str, /, *command: str, seconds: float = 700, ok: bool = True) -> str:
        """Run a command in a service's container."""
        return self("exec", "-T", service, *command, seconds=seconds, ok=ok,
                    profiles="sandbox,site")  # fmt: skip


@pytest.fixture(scope="module")
def composed() -> Composed:
    if reason := without(("docker", "compose", "version"), "docker compose version"):
        pytest.skip(reason)
    return Composed(f"evergreen-test-{os.getpid()}", make_passwords())


@pytest.fixture(scope="module")
def up(composed: Composed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """Built and started, without open ports: those of the machine may be taken."""
    if reason := without(("docker", "info"), "docker info"):
        pytest.skip(reason)
    closed = tmp_path_factory.mktemp("compose") / "closed.yml"
    published = [name for name, service in services(composed.given).items() if "ports" in service]
    lines = [f"  {name}: {{ports: !reset []}}" for name in published]
    closed.write_text("\n".join(["services:", *lines, ""]), "utf-8")
    composed.given["COMPOSE_FILE"] = f"docker-compose.yml{os.pathsep}{closed}"
    try:
        composed("build", "worker", seconds=BUILD_SECONDS)
        composed("up", "--detach", "--wait", seconds=UP_SECONDS)
        yield composed
    finally:
        composed("down", "--volumes", "--timeout", "60", "--remove-orphans",
                 seconds=300, profiles="sandbox,site")  # fmt: skip


def test_compose_reads_the_file_as_our_tests_do(composed: Composed) -> None:
    read = json.loads(composed("config", "--format", "json", profiles="sandbox,site"))
    ours = services(composed.given)
    assert {*read["services"]} == {*ours}
    for name, service in read["services"].items():
        assert service["image"] == ours[name]["image"]
        found = {key: value for key, value in service.get("environment", {}).items()
                 if value is not None}  # fmt: skip
        # Compose writes a dollar twice, so that what it prints can be read again.
        expected = environment(name, composed.given) if "environment" in ours[name] else {}
        assert found == {key: value.replace("$", "$$") for key, value in expected.items()}


def test_compose_starts_nothing_without_a_password(composed: Composed) -> None:
    bare = Composed(composed.name, {})
    assert "POSTGRES_PASSWORD" in bare("config", "--quiet", ok=False)


def test_a_run_of_a_deployment_is_done_and_its_site_served(up: Composed) -> None:
    evaluate_sample(up.within)
    up("up", "--detach", "--wait", "site", seconds=UP_SECONDS, profiles="site")
    assert "<html" in up.within("site", "wget", "-qO-", "http://127.0.0.1:8080/")


def test_the_sandbox_serves_the_edition_to_who_has_a_token(up: Composed) -> None:
    up("up", "--detach", "--wait", "sandbox", seconds=UP_SECONDS, profiles="sandbox")
    ask_sandbox(up.within)


def test_a_second_worker_takes_its_share(up: Composed) -> None:
    up("up", "--detach", "--wait", "--scale", "worker=2", seconds=UP_SECONDS)
    assert len(up("ps", "--quiet", "worker").split()) == 2
    run_deployment(up.within, "evaluate", edition="sample", protocols=["wiki_fact"])


def test_the_containers_are_nobody_and_can_change_nothing_of_their_own(up: Composed) -> None:
    for service in ("server", "worker"):
        assert up.within(service, "id", "-u").strip() == "10001"
        assert "Read-only" in up.within(service, "touch", "/opt/evergreen/here", ok=False)
        assert "GEMINI_API_KEY" not in up.within(service, "env")


def test_a_server_that_ends_comes_back_with_its_history(up: Composed) -> None:
    before = count_runs(up.within)
    assert before > 0
    up("kill", "server")
    up("up", "--detach", "--wait", seconds=UP_SECONDS)
    assert count_runs(up.within) >= before
