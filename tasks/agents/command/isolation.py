"""What an agent's program may read, write and reach, from its entry in agents.yaml.

It may read the system's programs and libraries, this interpreter with its packages, our code and
configurations, its own program and what its entry names under `reads`, its assignment, and the
archive if it gets one. It may write into its own folder and its cache. All else is refused, above
all the warehouse. A program in an image is isolated by its engine, Docker or Podman.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tasks.agents.command.settings import CommandAsk
from tasks.agents.isolation.bubblewrap import find_bubblewrap
from tasks.agents.isolation.plan import (
    SYSTEM,
    IsolationPlan,
    describe_missing,
    find_python_paths,
    leave_out,
    list_prefix,
)
from tasks.agents.wire.http import CONFIGURED_IN
from tasks.configuration.folders import CONFIGS, find_packaged
from tasks.models.errors import Misconfigured

CODE = Path(__file__).resolve().parents[3]
"""The folder of our code: a checkout, or the installed packages."""
COLLECTED = CODE / "data"
"""What a checkout collects is no code."""
ENGINES = ("docker", "podman")
ANSWER_SECONDS = 30
MAX_PROCESSES = 4096


@dataclass(frozen=True)
class JobPlace:
    """The folders of one job."""

    folder: Path
    cache: Path
    archive: Path | None
    private: tuple[Path, ...]
    """What no program may read."""


def plan_isolation(agent: str, ask: CommandAsk, program: str, place: JobPlace) -> IsolationPlan:
    """Plan the isolation of an agent's job. program: its path.

    Raises:
        Misconfigured: this machine cannot isolate programs, or the entry's `reads` cannot be used.
    """
    if missing := describe_missing():
        raise Misconfigured(
            f"{agent}: its program cannot be isolated here, which takes {missing}. Run it on a "
            f"machine that has this. Only for a program that you trust with your keys and files: "
            f"set `isolation: none` and `network: open` in {CONFIGURED_IN}."
        )
    private = (*place.private, COLLECTED, find_packaged("sample"))
    folder, archive = place.folder, place.archive
    named = [part for part in ask.command[1:] if Path(part).is_absolute() and Path(part).is_file()]
    own = [str(folder / name) for name in ("prompt.md", "assignment.json")]
    code = [*(str(CODE / name) for name in ("evergreen", "flows", "tasks")), *map(str, CONFIGS.all)]
    shared, listable = leave_out([*SYSTEM, *find_python_paths(), *code], private)
    theirs, listable_too = leave_out(_find_environment(Path(program)), private)
    readable = (
        *shared,
        *_find_reads(agent, (*ask.reads, *named), private),
        *dict.fromkeys((program, str(Path(program).resolve()))),
        *theirs,
        *own,
        *((str(archive),) if archive else ()),
    )
    return IsolationPlan(
        readable=readable,
        listable=(*listable, *listable_too),
        writable=(str(folder / "program"), str(place.cache)),
        network=ask.network,
        bubblewrap=find_bubblewrap(),
    )


def describe_isolation(plan: IsolationPlan | None, image: str | None) -> str:
    """Name what holds a program, for people."""
    if image:
        return f"it is held by a container of {image}"
    if plan is None:
        return "nothing holds it: it may do all that you may, and read your keys and files"
    return f"it is held by {plan.describe()}"


def _find_environment(program: Path) -> list[str]:
    """The folders of a virtual environment whose program it is, and of its interpreter."""
    prefix = program.parent.parent
    try:
        lines = (prefix / "pyvenv.cfg").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    named = [line.partition("=")[2].strip() for line in lines if line.startswith("home")]
    # Whoever made the environment wrote this: only an interpreter's folder counts as one.
    homes = [Path(home) for home in named if any(Path(home).glob("python3*"))]
    return list_prefix(str(prefix), *(str(home.parent) for home in homes))


def _find_reads(agent: str, named: Iterable[str], private: tuple[Path, ...]) -> list[str]:
    """Check the paths that an entry names."""
    found = []
    for name in named:
        path = Path(name).expanduser().absolute()
        where = f"{agent}: `reads` or `command` in {CONFIGURED_IN} names {name}"
        if not path.exists():
            raise Misconfigured(f"{where}, which does not exist. Correct or remove it.")
        real = path.resolve()
        for hidden in (one.resolve() for one in private):
            if hidden.is_relative_to(real) or real.is_relative_to(hidden):
                raise Misconfigured(
                    f"{where}, which would show the program {hidden}. Name only the folders of its "
                    "own code."
                )
        found += [str(path), *([str(real)] if real != path else [])]
    return found


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
