"""Print the help of every command, as one JSON object, by the code that PYTHONPATH names.

PYTHONPATH=CODE python -P tests/rigs/help_texts.py
"""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import typer

from flows.cli.main import app

NAME = "evergreen"


def find_commands(command: Any, parent: Any = None, name: str = NAME) -> Iterator[tuple[str, ...]]:
    """Yield each command's words, the root's first: `(evergreen,)`, `(evergreen, import)` …

    What is listed may stand for a command that is imported when it is called: the context of
    such a call has the real one.
    """
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    yield (name,)
    real = context.command
    for child in real.list_commands(context) if hasattr(real, "list_commands") else ():
        for words in find_commands(real.get_command(context, child), context, child):
            yield (name, *words)


def read_help(root: Any, words: tuple[str, ...]) -> str:
    """Return what `--help` after these words prints."""
    with redirect_stdout(io.StringIO()) as printed:
        try:
            root.main([*words[1:], "--help"], prog_name=NAME)
        except SystemExit as ended:
            if ended.code:
                raise
    return printed.getvalue()


def main() -> None:
    root = typer.main.get_command(app) if isinstance(app, typer.Typer) else app
    helps = {" ".join(words): read_help(root, words) for words in find_commands(root)}
    print(json.dumps(helps))


if __name__ == "__main__":
    main()
