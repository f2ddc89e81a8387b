"""What must be in no layer of an image and nowhere in its configuration: keys, and the registries
of the machine that built it."""

import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SECRET_NAME = re.compile(r"PASSWORD|SECRET|TOKEN|(^|_)KEYS?(_|$)|AUTH|^PIP_|PROXY", re.I)
SECRET_FILE = re.compile(r"(^|/)(\.env|pip\.conf|\.netrc|\.pypirc|[^/]+\.key)$")
PLANTED = (".env", "planted.key", "configs/planted.key", "data/sample/planted.key",
           "flows/__pycache__/planted.key", "data/planted.txt")  # fmt: skip
"""Files that a checkout may hold and an image must not."""


def copy_checkout(root: Path, to: Path, canary: str) -> None:
    """Copy the project's files to build of, and plant files that must stay out of the image."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to / name)
    for name in PLANTED:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(f"SECRET={canary}\n", "utf-8")


def find_leaks(saved: Path, words: Mapping[str, str]) -> list[str]:
    """Return what a saved image holds and must not, with its place.

    saved: a folder as `ImageStore.save` writes it.
    words: what is secret, by how to call it where it is found.
    """
    secret = {name: word.encode() for name, word in words.items()}
    manifest: dict[str, Any] = json.loads((saved / "manifest.json").read_text("utf-8"))
    config = (saved / _blob(manifest["config"])).read_bytes()
    found = [f"configuration: {name}" for name, word in secret.items() if word in config]
    found += [f"configuration: sets {name}" for name in _secret_names(json.loads(config))]
    for number, layer in enumerate(manifest["layers"], 1):
        places = _search_layer(saved / _blob(layer), secret)
        found += [f"layer {number}: {place}" for place in places]
    return found


def _blob(described: dict[str, Any]) -> str:
    return str(described["digest"]).partition(":")[2]


def _secret_names(config: dict[str, Any]) -> Iterator[str]:
    names = [each.partition("=")[0] for each in config["config"].get("Env") or ()]
    yield from (name for name in names if SECRET_NAME.search(name))


def _search_layer(layer: Path, secret: Mapping[str, bytes]) -> Iterator[str]:
    with tarfile.open(layer) as files:
        for member in files:
            if SECRET_FILE.search(member.name):
                yield f"{member.name} is there"
            opened = files.extractfile(member) if member.isfile() else None
            text = opened.read() if opened else b""
            for name, word in secret.items():
                if word in text or word in f"{member.name} {member.linkname}".encode():
                    yield f"{member.name}: {name}"
