"""bubblewrap: namespaces of a program's own, where the machine allows them."""

import shutil
import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from tasks.agents.isolation.plan import IsolationPlan

PROBE_SECONDS = 10
NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts",
              "--unshare-cgroup-try")  # fmt: skip
OWN_FOLDERS = ("--proc", "/proc", "--dev", "/dev")


@lru_cache
def find_bubblewrap() -> str | None:
    """Return bubblewrap's path if it works here: containers often allow no namespaces."""
    path = shutil.which("bwrap")
    if path is None:
        return None
    probe = [path, *NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", *OWN_FOLDERS, "true"]
    try:
        done = subprocess.run(
            probe, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return path if done.returncode == 0 else None


def wrap(command: Iterable[str], plan: IsolationPlan, folder: str) -> list[str]:
    """Return the command in namespaces of its own. folder: where it starts."""
    assert plan.bubblewrap is not None
    network = () if plan.network != "none" else ("--unshare-net",)
    given = dict.fromkeys(Path(path) for path in plan.readable)
    # Nothing can be mounted in folders that are shown anyway.
    shown = [str(path) for path in given if not given.keys() & set(path.parents)]
    binds = [
        *(part for path in shown for part in ("--ro-bind-try", path, path)),
        *(part for path in plan.writable for part in ("--bind", path, path)),
    ]
    return [
        plan.bubblewrap, "--die-with-parent", "--new-session", *NAMESPACES, *network, *OWN_FOLDERS,
        *binds, "--chdir", folder, "--", *command,
    ]  # fmt: skip
