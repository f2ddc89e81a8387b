"""The end of a command's process that something may hold up: a thread, a cleanup, Prefect's client.

What is committed stays, and the kernel releases locks, as after `kill -9`.
"""

import os
import signal
import sys
import threading

SHOW_CURSOR = b"\x1b[?25h"
"""For a terminal: a bar that does not end leaves the cursor hidden."""
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_owned = threading.Event()


def end_at_second_signal() -> None:
    """Have this process end at its second Ctrl-C (or SIGTERM), whatever it is waiting for.

    The first one is Python's, asyncio's or Prefect's, as ever. A thread counts them, because the
    main thread may be in a call that does not return.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_count_signals, args=(reading,), daemon=True).start()
    _owned.set()


def _count_signals(source: int) -> None:
    numbers = (os.read(source, 1)[0] for _ in iter(int, 1))
    ending = (number for number in numbers if number in ENDING_SIGNALS)
    next(ending)
    end_process(128 + next(ending))


def end_within(seconds: float, code: int, line: str) -> None:
    """End a command's process with this line, if it does not end by itself in time."""
    if _owned.is_set():  # not the one of who uses Evergreen as a library
        timer = threading.Timer(seconds, end_process, (code, f"{line}\n"))
        timer.daemon = True
        timer.start()


def end_process(code: int, line: str = "") -> None:
    """End this process now; no thread, and nothing that Python does at exit, is waited for."""
    shown = SHOW_CURSOR if sys.stderr.isatty() else b""
    os.write(sys.stderr.fileno(), shown + line.encode())
    os._exit(code)
