"""docs/how-to/operators.md: its messages are those of the code, and no variable is forgotten."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from flows.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "operators.md").read_text("utf-8")
GIVEN_TO_AGENTS = {"EVERGREEN_ARCHIVE", "EVERGREEN_ASSIGNMENT", "EVERGREEN_CACHE",
                   "EVERGREEN_SANDBOX_TOKEN"}  # fmt: skip
"""What Evergreen sets for programs that it starts; nobody else does."""


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [line for block in found for line in block.splitlines() if line.strip()]


def test_there_are_messages() -> None:
    assert len(blocks("text message")) > 20


@cache
def said() -> list[str]:
    """Every text in the code; what is put into one stands as \0."""
    found = []
    for path in [*(ROOT / "flows").rglob("*.py"), *(ROOT / "tasks").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    str(part.value) if isinstance(part, ast.Constant) else "\0"
                    for part in node.values
                ]
                found.append("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


@pytest.mark.parametrize("message", blocks("text message"))
def test_a_message_on_the_page_is_one_of_the_code(message: str) -> None:
    fragments = [part.strip() for part in message.split("…")]
    assert sum(map(len, fragments)) > 15, "too little to be found by"
    lost = [part for part in fragments if not any(part in text for text in said())]
    assert lost == [], "the code says nothing like it"


def test_every_variable_of_ours_is_on_the_page() -> None:
    sources = [*(ROOT / "flows").rglob("*.py"), *(ROOT / "tasks").rglob("*.py"),
               *(ROOT / "configs").glob("*.yaml")]  # fmt: skip
    named = {
        name
        for path in sources
        for name in re.findall(r"\bEVERGREEN_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))
    }
    listed = set(re.findall(r"EVERGREEN_[A-Z_]*[A-Z]\b", PAGE))
    assert named - GIVEN_TO_AGENTS == listed


def test_the_exit_codes_are_those_of_the_help() -> None:
    help_text = " ".join((app.info.epilog or "").split())
    codes = re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)
    assert codes == ["0", "1", "2", "130", "143"]
    assert all(code in help_text for code in codes)
