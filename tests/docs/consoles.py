"""Sessions that pages show: their commands are run in one shell, what they print is compared."""

import os
import re
import subprocess
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tests.docs.blocks import list_blocks

END = "-- end of a command --"
ANYTHING = "…"


class Step(NamedTuple):
    """A command of a session, and what it should print."""

    line: str
    """Where the block begins: page and line."""
    command: str
    shown: str


def list_sessions() -> dict[str, list[Step]]:
    """Page → the steps of all its blocks, in order."""
    blocks = [block for block in list_blocks() if block.language == "console" and block.is_run]
    return {
        page: [Step(block.name, *step) for block in group for step in _split(block.text)]
        for page, group in groupby(blocks, lambda block: block.page)
    }


def _split(text: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ (.+)\n", text, flags=re.MULTILINE)
    assert not parts[0], "a session begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run_session(steps: list[Step], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run the commands in one shell; return what each printed. It ends at one that fails."""
    script = "".join(f"{step.command}\necho; echo '{END}'\n" for step in steps)
    done = subprocess.run(
        ["bash", "-e"], input=script, cwd=folder, env=os.environ | environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.stdout.split(f"{END}\n")


def is_shown(printed: str, shown: str) -> bool:
    """Whether a page shows what was printed; `…` stands for anything, on a line of its own for
    any lines."""
    pattern = "".join(map(_match_line, _strip(shown)))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _strip(printed))) is not None


def _match_line(line: str) -> str:
    if line == ANYTHING:
        return r"(?:.*\n)*?"
    return re.escape(line).replace(re.escape(ANYTHING), ".*?") + r"\n"


def _strip(text: str) -> list[str]:
    """The lines that are not empty, without spaces at their ends."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]
