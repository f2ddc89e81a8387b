"""What the rig prints: each thing tried, and how it ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


def report(text: str) -> None:
    print(text, flush=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say what was done, once it is, with the seconds that it took."""
    began = time.monotonic()
    yield
    report(f"{what} ({time.monotonic() - began:.0f} s)")
