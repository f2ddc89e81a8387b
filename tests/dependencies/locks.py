"""The locks, and the pins in them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
OF_THE_IMAGE = ("requirements.lock", "requirements-lake.lock", "requirements-sandbox.lock")
LOCKS = (*OF_THE_IMAGE, "requirements-dev.lock")
_HASHES = re.compile(r"\s*\\?\s*--hash=\S+")


def read_pins(locks: Sequence[str], platform: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name and version of each package that these locks have for a platform.

    platform: the values of environment markers, as `packaging` names them.
    """
    for lock in locks:
        text = (ROOT / lock).read_text("utf-8").replace("\\\n", " ")
        for line in filter(None, (_HASHES.sub("", line).strip() for line in text.splitlines())):
            pinned = Requirement(line)
            [version] = pinned.specifier
            assert version.operator == "==", line
            if pinned.marker is None or pinned.marker.evaluate(platform):
                yield pinned.name, version.version
