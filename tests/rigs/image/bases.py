"""Stand-ins for the images that we do not build, made of Debian's packages by debootstrap.

They have the same programs in other versions: what is tried is our Dockerfile and our commands.
"""

import re
import shutil
import subprocess
from pathlib import Path

from tests.compose_file import ROOT, services
from tests.rigs.image.buildah import ImageStore
from tests.rigs.image.settings import Mirror

PACKAGES = {
    "python": ("python3", "python3-venv", "python-is-python3", "ca-certificates"),
    "caddy": ("caddy", "netcat-openbsd"),
}
"""Of Debian, for each image that a container is made of."""
ON_THE_MACHINE = {"postgres"}
"""Debian's own, as it is installed here; no container is made."""
TRACES = ("etc/apt/sources.list", "etc/hostname", "etc/resolv.conf", "var/log/bootstrap.log",
          "var/lib/apt/lists", "var/cache/apt")  # fmt: skip
"""What debootstrap leaves of the machine and its mirror."""


def list_foreign_images() -> list[str]:
    """Return the images of the Dockerfile and docker-compose.yml that we do not build."""
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    bases = re.findall(r"(?m)^FROM (\S+)", dockerfile)
    composed = [each["image"] for each in services().values() if "build" not in each]
    return list(dict.fromkeys(_without_digest(each) for each in [*bases, *composed]))


def find_packages(image: str) -> tuple[str, ...]:
    name = image.partition(":")[0]
    if name not in PACKAGES:
        raise SystemExit(
            f"{image}: no packages of Debian stand in for it; name them in {__name__}."
        )
    return PACKAGES[name]


def make_base(store: ImageStore, image: str, mirror: Mirror, work: Path) -> None:
    """Make a stand-in, under the name of what it stands in for."""
    folder, cache = work / "base", work / "packages"
    cache.mkdir(exist_ok=True)
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--cache-dir={cache}",
         f"--include={','.join(find_packages(image))}", mirror.release, folder, mirror.address],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"debootstrap: exit code {done.returncode}\n{done.stdout[-3000:]}")
    for trace in TRACES:
        _remove(folder / trace)
    store.import_files(folder, image)
    shutil.rmtree(folder)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _without_digest(image: str) -> str:
    return image.partition("@")[0]
