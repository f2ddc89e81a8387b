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


def test_no_remark_is_taken_for_markup() -> None:
    """`STDERR.print` alone takes what it is given for Rich's."""
    found = [
        f"{path.name}:{place}"
        for path in sorted(FLOWS.rglob("*.py"))
        for place in taken_for_markup(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


def taken_for_markup(tree: ast.Module) -> list[int]:
    """The lines with `STDERR.print`, called or handed on, that do not say `markup=False`."""
    plain = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "markup=False" in map(ast.unparse, node.keywords)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node) == "STDERR.print"
        and id(node) not in plain
    ]
