"""Remarks: said as they stand, whatever is in them."""

import ast
from pathlib import Path

import pytest

from flows.display.console import print_message

FLOWS = Path(__file__).resolve().parents[3] / "flows"
OTHERS = "the warehouse is owned by process 7 (python x.py '[/red] [bold]')"


def test_a_remark_with_another_programs_command_line_is_said_as_it_stands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_message(OTHERS)
    assert capsys.readouterr().err == f"{OTHERS}\n"


def test_every_console_makes_text_visible() -> None:
    """Rich's own would take text for markup, and print control sequences."""
    found = [
        path.name
        for path in sorted(FLOWS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Console"
    ]
    assert found == []
