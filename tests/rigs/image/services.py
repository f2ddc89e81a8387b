"""The services of docker-compose.yml, each started in its image's files by Buildah.

Read from it are the image, command, user, environment, volumes, tmpfs, capabilities and health
check. All are on one network, where their names lead to the loopback.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.compose_file import ROOT, environment, services
from tests.rigs.image.buildah import ISOLATION, ImageStore

HEALTHY_WITHIN_SECONDS = 600
"""On a busy machine the server alone takes minutes."""
ENDS_WITHIN_SECONDS = 120
PAUSE_SECONDS = 2.0


class ServiceFailed(Exception):
    """A service does not do what docker-compose.yml says; with the end of its output."""


@dataclass
class ComposedServices:
    """The services, in containers that exist, with volumes of their own."""

    store: ImageStore
    given: dict[str, str]
    """What a person has written into `.env`."""
    containers: dict[str, str]
    """By image."""
    work: Path
    """Holds volumes and logs."""
    report: Callable[[str], None]

    def find(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = services(self.given)[name]
        return found

    def container(self, name: str) -> str:
        return self.containers[self.find(name)["image"]]

    def command(self, name: str, *command: str) -> list[str]:
        """Return the command that runs another one as the service's container has it."""
        service = self.find(name)
        options = [*ISOLATION, *(f"--cap-drop={each}" for each in service["cap_drop"]),
                   *(f"--cap-add={each}" for each in service.get("cap_add", ()))]  # fmt: skip
        if "user" in service:
            options.append(f"--user={service['user']}")
        if "environment" in service:
            pairs = environment(name, self.given).items()
            options += [f"--env={key}={value}" for key, value in pairs]
        options += [f"--volume={each}" for each in self._volumes(name, service)]
        options += [f"--mount=type=tmpfs,destination={each},tmpfs-mode=1777"
                    for each in service["tmpfs"]]  # fmt: skip
        assert service["security_opt"] == ["no-new-privileges:true"]
        run = self.store.command("run", *options, self.container(name), "--", *command)
        return ["setpriv", "--no-new-privs", *run]

    def within(self, name: str, *command: str) -> str:
        """Run a command in a service's container and return what it prints.

        Raises:
            ServiceFailed: it ended with an error.
        """
        done = subprocess.run(
            self.command(name, *command), capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            said = (done.stdout + done.stderr)[-3000:]
            raise ServiceFailed(f"{name}: {' '.join(command)}: {done.returncode}\n{said}")
        return done.stdout

    @contextmanager
    def started(self, name: str) -> Iterator[None]:
        """Start a service, wait until its health check succeeds, and stop it as Docker does."""
        service = self.find(name)
        log = self.work / f"{name}.log"
        began = time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command(name, *service["command"]), stdin=subprocess.DEVNULL, stdout=output,
                stderr=output,
            )  # fmt: skip
        running = RunningService(name, process, log)
        try:
            self._wait(running, service["healthcheck"]["test"])
            self.report(f"{name}: healthy after {time.monotonic() - began:.0f} s")
            yield
            self.report(f"{name}: {running.stop()}")
        finally:
            running.kill()

    def _wait(self, running: "RunningService", test: list[str]) -> None:
        """Ask the service's health check until it succeeds."""
        assert test[0] == "CMD"
        deadline = time.monotonic() + HEALTHY_WITHIN_SECONDS
        why = ""
        while time.monotonic() < deadline:
            if running.process.poll() is not None:
                raise ServiceFailed(
                    f"{running.name} ended with {running.process.returncode}:\n{running.said}"
                )
            try:
                self.within(running.name, *test[1:])
            except ServiceFailed as error:
                why = str(error)
            else:
                return
            time.sleep(PAUSE_SECONDS)
        raise ServiceFailed(f"{running.name} does not get healthy: {why}\n{running.said}")

    def _volumes(self, name: str, service: dict[str, Any]) -> Iterator[str]:
        for volume in service.get("volumes", ()):
            source, target, *how = volume.split(":")
            folder = ROOT / source if source.startswith(".") else self.work / "volumes" / source
            if not folder.exists():
                make_volume(self.store, self.container(name), folder, target)
            yield ":".join([str(folder), target, *how])


@dataclass
class RunningService:
    """A service's process, below those of Buildah."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    _ended: bool = field(default=False, repr=False)

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", errors="replace")[-3000:]

    def stop(self) -> str:
        """End it with SIGTERM; return how it ended.

        Raises:
            ServiceFailed: it does not end.
        """
        if self.process.poll() is not None:
            raise ServiceFailed(f"{self.name} ended with {self.process.returncode}:\n{self.said}")
        for process in self._own_processes()[:1]:
            process.terminate()
        try:
            code = self.process.wait(ENDS_WITHIN_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ServiceFailed(f"{self.name} does not end on SIGTERM:\n{self.said}") from error
        return f"ended with exit code {code} on SIGTERM"

    def kill(self) -> None:
        """End it and all it has started."""
        if self.process.poll() is None:
            for process in self._own_processes():
                process.kill()
            self.process.wait()

    def _own_processes(self) -> list[psutil.Process]:
        """Return the processes that are not Buildah's, the first of them first."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        return [each for each in below if not each.exe().endswith("/buildah")]


def make_volume(store: ImageStore, container: str, folder: Path, target: str) -> None:
    """Make a new volume as Docker does: with the owner of the folder that it is mounted on."""
    folder.mkdir(parents=True)
    within = store.mount(container) / target.lstrip("/")
    if within.exists():
        found = within.stat()
        folder.chmod(found.st_mode)
        shutil.chown(folder, found.st_uid, found.st_gid)
