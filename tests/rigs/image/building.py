"""The image: made of stand-ins for its bases, searched for what must not be in it, described."""

import json
import shutil
from pathlib import Path

from tests.compose_file import ROOT, services
from tests.rigs.image.bases import ON_THE_MACHINE, list_foreign_images, make_base
from tests.rigs.image.buildah import ImageStore
from tests.rigs.image.leaks import copy_checkout, find_leaks
from tests.rigs.image.reporting import report, timed
from tests.rigs.image.settings import (
    BuildSecrets,
    Mirror,
    find_mirror,
    list_private_hosts,
    read_pip_settings,
    write_secrets,
)


def build_image(store: ImageStore, image: str, work: Path) -> None:
    """Make the bases and build the image.

    Raises:
        SystemExit: it holds a key, or a registry of this machine.
    """
    mirror = find_mirror()
    for base in list_foreign_images():
        if base.partition(":")[0] not in ON_THE_MACHINE:
            with timed(f"{base}: Debian's packages stand in for it"):
                make_base(store, base, mirror, work)
    given = write_secrets(work)
    copy_checkout(ROOT, work / "context", given.canary)
    with timed(f"{image}: built"):
        store.build(work / "context", image, given.files)
    with timed(f"{image}: no key and no registry in its layers"):
        _search(store, image, mirror, given, work / "saved")
    report(describe_image(store, image))


def _search(
    store: ImageStore, image: str, mirror: Mirror, given: BuildSecrets, saved: Path
) -> None:
    hosts = sorted(list_private_hosts(mirror, read_pip_settings()))
    words = {f"host {number} of apt's or pip's settings": host
             for number, host in enumerate(hosts, 1)}  # fmt: skip
    store.save(image, saved)
    if leaks := find_leaks(saved, words | {"what was secret in the build": given.canary}):
        raise SystemExit("\n".join(["The image holds what it must not:", *leaks]))
    shutil.rmtree(saved)


def describe_image(store: ImageStore, image: str) -> str:
    """Say the image's size; check that it has kept its health check."""
    found = store.describe(image)
    health = found["Docker"]["config"]["Healthcheck"]["Test"]
    assert health == services()["worker"]["healthcheck"]["test"], health
    base, *ours = [layer["size"] / 1e6 for layer in json.loads(found["Manifest"])["layers"]]
    return f"{image}: {base + sum(ours):,.0f} MB, of which {base:,.0f} MB are its base"
