"""The page of commands, made from the tree of commands that `evergreen` parses with."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from flows.cli.commands import PANELS
from flows.cli.lazy_commands import LazyCommand
from flows.cli.main import app
from tests.docs.markdown import render_table

INTRODUCTION = """# Commands

Every command prints this with `--help`. Results go to stdout, progress and messages to stderr.
The page *On call* lists the [exit codes](../how-to/operators.md#exit-codes) and the
[environment variables](../how-to/operators.md#variables).
"""
SHARED = ("--help", "--warehouse", "--install-completion", "--show-completion")
"""Options that many commands have; they are described once."""


def render_page() -> str:
    """The page, as Markdown."""
    program = typer.main.get_command(app)
    parts = [INTRODUCTION, "## Every command\n"]
    with program.make_context("evergreen", [], resilient_parsing=True) as context:
        options = [each for each in program.get_params(context) if each.param_type_name == "option"]
        parts.append(_render_options(options))
        for panel, entries in PANELS.items():
            parts.append(f"## {panel}\n")
            for name in entries:
                parts += _describe(program.commands[name], name, context)  # type: ignore[attr-defined]
    return "\n".join(parts)


def list_commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, as it is typed after `evergreen`."""
    yield from _walk(typer.main.get_command(app), "")


def _walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    command = command.command if isinstance(command, LazyCommand) else command
    inner: Mapping[str, Any] = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield name, command
    for part, each in inner.items():
        yield from _walk(each, f"{name} {part}".strip())


def _describe(command: Any, name: str, parent: Any) -> Iterator[str]:
    """A command, then those in its group."""
    command = command.command if isinstance(command, LazyCommand) else command
    with command.make_context(name, [], parent=parent, resilient_parsing=True) as context:
        yield f"### evergreen {_full_name(context)}\n"
        yield f"{_plain(command.help)}\n"
        inner: Mapping[str, Any] = getattr(command, "commands", {})
        if not inner or command.invoke_without_command:
            yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
        if example := _find_example(command.epilog):
            yield f"Example: `{example}`\n"
        given = command.get_params(context)
        if not inner and not any("--warehouse" in each.opts for each in given):
            yield "It opens no warehouse, so it has no `--warehouse`.\n"
        params = [each for each in given if not _is_shared(each)]
        if params:
            yield _render_options(params)
        for part, each in inner.items():
            yield from _describe(each, part, context)


def _full_name(context: Any) -> str:
    names = []
    while context.parent is not None:
        names.append(str(context.info_name))
        context = context.parent
    return " ".join(reversed(names))


def _find_example(epilog: str | None) -> str | None:
    found = re.search(r"^Example:\s+(evergreen .+)$", epilog or "", re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else None


def _is_shared(param: Any) -> bool:
    return any(name in SHARED for name in param.opts)


def _render_options(params: list[Any]) -> str:
    rows = []
    for param in params:
        named = param.param_type_name == "option"
        names = ", ".join([*param.opts, *param.secondary_opts]) if named else ""
        word = f"{names} {param.metavar}".strip()
        rows.append((f"`{word}`", _plain(getattr(param, "help", "")), _default(param)))
    return render_table(("Option or argument", "Meaning", "Default"), rows)


def _default(param: Any) -> str:
    if param.required:
        return "required"
    default = param.default
    if default in (None, False, (), []) or callable(default):
        return ""
    return f"`{getattr(default, 'value', default)}`"


def _plain(text: str | None) -> str:
    return " ".join((text or "").split()).replace("<", "&lt;")
