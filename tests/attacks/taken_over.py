"""What a hostile file might do in the helper that it took over: functions that run there.

Helpers import this module, so it is small.
"""

import ctypes
import os
import resource
import stat
import sys
import time
from dataclasses import dataclass

from tasks.processes.helper import LENGTH


def send(answer: bytes, length: int | None = None) -> None:
    """What code in a helper may do: write whatever it likes to the pipe, and end."""
    framed = LENGTH.pack(len(answer) if length is None else length) + answer
    for number in range(3, 20):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, framed)
        except OSError:
            continue
    os._exit(0)


def send_number(answer: bytes, length: int | None = None) -> int:
    send(answer, length)
    return 0


def get_environment() -> dict[str, str]:
    return dict(os.environ)


def look_at_itself() -> tuple[bool, tuple[int, int], int, bool]:
    dumpable = bool(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
    own_session = os.getsid(0) == os.getpid()
    return dumpable, resource.getrlimit(resource.RLIMIT_CORE), os.getppid(), own_session


def read_input() -> str:
    return f"{sys.stdin.read()!r} {os.read(0, 1)!r}"


@dataclass(frozen=True)
class SlowClaim:
    """As much of a claim as `render_slowly` reads."""

    position: int | None


@dataclass(frozen=True)
class SlowReport:
    """As much of a report as `render_slowly` reads."""

    text: str
    claims: tuple[SlowClaim, ...]


def render_slowly(frame: None, report: SlowReport, *rest: object) -> dict[str, str]:
    """Render a report as if a long text took for ever."""
    time.sleep(60 if len(report.text) > 1_000 else 0)
    return {"page": report.text, "position": str(report.claims[0].position)}
