"""What tests of keys share."""

from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]


def copied_by_the_image(path: str) -> bool:
    """Whether Docker would send a file to the build: the last line of .dockerignore that fits it,
    or a folder above it, decides."""
    name = PurePosixPath(path)
    kept = True
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        places = [name, *name.parents[:-1]]
        fits = (
            any(fnmatch(place.name, pattern.removeprefix("**/")) for place in places)
            if pattern.startswith("**/")
            else any(fnmatch(str(place), pattern) for place in places)
        )
        if fits:
            kept = line.startswith("!")
    return kept
