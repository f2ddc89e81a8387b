"""Build the image, and run it and what docker-compose.yml starts: `make rig-image`, as root on
Debian.

Nothing comes from an image registry: stand-ins for the images that we do not build are made of
Debian's packages. What is built then runs without a network.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.compose_file import ROOT, services
from tests.rigs.image.bases import list_foreign_images
from tests.rigs.image.buildah import ISOLATION, ImageStore
from tests.rigs.image.building import build_image
from tests.rigs.image.composed import enter_empty_network, make_passwords, use_services
from tests.rigs.image.reporting import report, timed
from tests.rigs.image.services import ComposedServices, make_volume

USER = 10001
"""The image's."""
COMMANDS = {"demo": "sample_scholar", "doctor --offline": "libraries"}
"""What is run in the image alone, and a word of what it prints."""


def main() -> None:
    require_programs()
    image = services()["worker"]["image"]
    # Gigabytes, and too many for a /tmp that is in memory.
    folder = tempfile.TemporaryDirectory(prefix="evergreen-image-", dir="/var/tmp")
    with folder as name, ExitStack() as cleanup:
        work = Path(name)
        store = ImageStore(work)
        cleanup.callback(store.remove_containers)
        build_image(store, image, work)
        if has_engine():
            report("An engine runs containers here: it starts docker-compose.yml.")
            subprocess.run(
                [sys.executable, "-m", "pytest", "-n", "0", "tests/long/test_docker.py"],
                cwd=ROOT, check=True,
            )  # fmt: skip
        enter_empty_network()
        use_image(store, image, work)
        if not has_engine():
            compose(store, image, work)


def require_programs() -> None:
    missing = [each for each in ("buildah", "debootstrap", "ip") if not shutil.which(each)]
    if os.geteuid() != 0 or missing:
        raise SystemExit(f"rig-image needs root, and {', '.join(missing)}: make rigs-image")


def has_engine() -> bool:
    """Whether Docker runs containers here."""
    if not shutil.which("docker"):
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


def use_image(store: ImageStore, image: str, work: Path) -> None:
    """Run the image alone, as its user, with a new volume."""
    container = store.make_container(image, [])
    volume = work / "alone"
    make_volume(store, container, volume, "/srv/evergreen")
    for command, expected in COMMANDS.items():
        with timed(f"evergreen {command}: works as user {USER}"):
            said = store.call(
                "run", *ISOLATION, "--cap-drop=ALL", f"--volume={volume}:/srv/evergreen",
                "--mount=type=tmpfs,destination=/tmp,tmpfs-mode=1777", container, "--",
                "evergreen", *command.split(),
            )  # fmt: skip
        assert expected in said, said
    assert {path.stat().st_uid for path in volume.rglob("*")} == {USER}


def compose(store: ImageStore, image: str, work: Path) -> None:
    """Run the services one by one; they write into their volumes alone."""
    started = time.time()
    images = [image, *(each for each in list_foreign_images() if each.startswith("caddy"))]
    names = [*services()]
    containers = {each: store.make_container(each, names) for each in images}
    use_services(ComposedServices(store, make_passwords(), containers, work, report))
    for container in containers.values():
        written = find_written(store.mount(container), started)
        assert not written, f"written outside of volumes: {written}"
    report("No service wrote outside of its volumes and /tmp.")


def find_written(root: Path, since: float) -> list[str]:
    """Return the files that the image's user has written in a container, outside of what is
    mounted. Not folders: in them Buildah makes the points where it mounts."""
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if not path.is_dir() and (found := path.lstat()).st_uid == USER and found.st_mtime > since
    ]


if __name__ == "__main__":
    main()
