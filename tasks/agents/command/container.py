"""Programs in an image: how an engine (Docker or Podman) is told to run one."""

import os
import shutil
import subprocess
from pathlib import Path

from tasks.agents.command.isolation import JobPlace
from tasks.agents.http import CONFIGURED_IN
from tasks.configuration.agents import CommandAsk
from tasks.models.errors import Misconfigured

ENGINES = ("docker", "podman")
ANSWER_SECONDS = 30
MAX_PROCESSES = 4096


def find_engine(agent: str) -> str:
    """Return the path of an engine that runs containers.

    Raises:
        Misconfigured: there is none, or it does not answer.
    """
    problem = "neither docker nor podman is installed"
    for name in ENGINES:
        path = shutil.which(name)
        if path is None:
            continue
        try:
            done = subprocess.run(
                [path, "info"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=ANSWER_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"{name} does not answer ({error})"
            continue
        if done.returncode == 0:
            return path
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        problem = f"{name} does not run containers here ({last})"
    raise Misconfigured(
        f"{agent}: its entry in {CONFIGURED_IN} sets `image`, but {problem}. Start the engine, or "
        "leave out `image` to run the program on this machine, isolated."
    )


def build_run(
    engine: str, ask: CommandAsk, place: JobPlace, container: str, environment: dict[str, str]
) -> tuple[str, ...]:
    """Return the command line that runs a job's program in its image.

    Its folders lie in the container where they lie here. container: its name. environment: what is
    not secret; secrets are passed on by name, so that no list of processes shows them.
    """
    assert ask.image is not None
    program = place.folder / "program"
    read_only = [place.folder / "assignment.json", *([place.archive] if place.archive else [])]
    own = {name: value for name, value in environment.items() if name != "PATH"}
    network = "bridge" if ask.network == "open" else "none"
    keep_user = ("--userns", "keep-id") if Path(engine).name == "podman" else ()
    return (
        engine, "run", "--rm", "--init", "--interactive", "--name", container,
        "--network", network, "--read-only", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges", "--pids-limit", str(MAX_PROCESSES),
        "--memory", f"{ask.memory_mb}m", "--user", f"{os.getuid()}:{os.getgid()}", *keep_user,
        *(part for path in (program, place.cache) for part in ("--volume", f"{path}:{path}")),
        *(part for path in read_only for part in ("--volume", f"{path}:{path}:ro")),
        *(part for name, value in own.items() for part in ("--env", f"{name}={value}")),
        *(part for name in ask.environment for part in ("--env", name)),
        "--workdir", str(program), ask.image, *ask.command,
    )  # fmt: skip
