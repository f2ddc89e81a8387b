"""The table of promises in SECURITY.md, made from all attacks of the tests.

`python -m tests.attacks.table` writes it anew.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "tests" / part / "attacks" for part in ("", "guarantees", "processes", "long")]
PAGE = ROOT / "SECURITY.md"
BEGIN, END = "<!-- promises -->\n", "<!-- end of the promises -->\n"


def render_table() -> str:
    """A section for each file of attacks: its promises, and the test of each."""
    paths = [path for folder in FOLDERS for path in sorted(folder.glob("test_*.py"))]
    return "\n".join(line for path in paths for line in _section(path))


def _section(path: Path) -> Iterator[str]:
    module = ast.parse(path.read_text("utf-8"))
    tests = [
        node
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and ast.get_docstring(node)
    ]
    if not tests:
        return
    yield f"\n### {_first_line(module)}\n\n| Promise | Test |\n|---|---|"
    place = path.relative_to(ROOT).as_posix()
    for test in tests:
        yield f"| {_first_line(test)} | [`{test.name}`]({place}) |"


def _first_line(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    text = ast.get_docstring(node)
    assert text, node
    return " ".join(text.split("\n\n")[0].split()).rstrip(".").replace("|", "\\|")


def insert_table(page: str) -> str:
    """The page with its table made anew."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{render_table()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(insert_table(PAGE.read_text("utf-8")), "utf-8")
