"""Images and containers by Buildah, in a store of their own, without an engine."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ISOLATION = ("--isolation", "chroot")
"""Needs neither a runtime nor namespaces. It shares the machine's network and processes."""


class BuildahFailed(Exception):
    """A command of Buildah's ended with an error."""


@dataclass(frozen=True)
class ImageStore:
    folder: Path

    def command(self, *arguments: str | Path) -> list[str]:
        places = ("--root", self.folder / "images", "--runroot", self.folder / "containers")
        return ["buildah", *map(str, places), *map(str, arguments)]

    def call(self, *arguments: str | Path) -> str:
        """Run a command of Buildah's and return what it prints.

        Raises:
            BuildahFailed: with the end of its output.
        """
        # Pip's settings reach a build as a secret alone.
        passed = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, env=passed,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            said = (done.stdout + done.stderr)[-3000:]
            raise BuildahFailed(f"buildah {arguments[0]}: exit code {done.returncode}\n{said}")
        return done.stdout.strip()

    def import_files(self, folder: Path, name: str) -> None:
        """Make an image of a folder."""
        container = self.call("from", "scratch")
        self.call("add", "--quiet", container, folder, "/")
        self.call("commit", "--quiet", "--rm", "--format", "docker", container, name)

    def build(self, context: Path, name: str, secrets: dict[str, Path]) -> None:
        """Build the Dockerfile of a folder. No image that it names is fetched."""
        given = [f"--secret=id={key},src={path}" for key, path in secrets.items()]
        # Docker's format: the other one knows no HEALTHCHECK.
        self.call("bud", *ISOLATION, "--format", "docker", "--pull-never", "--layers=false",
                  *given, "--tag", name, context)  # fmt: skip

    def describe(self, image: str) -> dict[str, Any]:
        """Return an image's configuration and manifest."""
        found: dict[str, Any] = json.loads(self.call("inspect", "--type", "image", image))
        return found

    def save(self, image: str, folder: Path) -> None:
        """Write an image's layers, as a registry would get them but not compressed."""
        self.call("push", "--quiet", "--disable-compression", image, f"dir:{folder}")

    def make_container(self, image: str, hosts: list[str]) -> str:
        """Make a container, in which all these names are the loopback's; return its name."""
        named = [f"--add-host={host}:127.0.0.1" for host in hosts]
        return self.call("from", "--pull-never", *named, image)

    def mount(self, container: str) -> Path:
        return Path(self.call("mount", container))

    def remove_containers(self) -> None:
        """Remove the containers, which unmounts their files."""
        self.call("rm", "--all")
