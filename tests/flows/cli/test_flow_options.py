"""Commands take the parameters of flows from the flows' models: names and defaults stand once."""

import inspect
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from flows.cli.options import FormatOption, WarehouseOption, takes
from flows.display.formats import Format
from flows.registry import SERVED_FLOWS, load_flow
from tasks.planning.edition_options import CollectOptions
from tasks.planning.options import FlowOptions
from tasks.warehouse.location import DEFAULT_LOCATION

COMMANDS = {
    "ask": "ask:ask", "assign": "editions:assign", "backfill": "ask:backfill",
    "collect": "editions:collect", "draft": "drafts:draft_rubrics", "evaluate": "evaluate:evaluate",
    "fetch": "pages:fetch", "publish": "publish:publish", "read": "pages:read",
    "refresh": "refresh:refresh", "rejudge": "rejudge:rejudge",
}  # fmt: skip
"""The command of each flow. `bring_in`, for deployments, has none: `demo` calls it."""


class Options(FlowOptions):
    edition: str
    first: int | None = 3
    """only this many."""
    to: str | None = None


def run(*arguments: str) -> dict[str, Any]:
    """The parameters that a command gets when it is called with these arguments."""
    got: list[tuple[Options, bool, Format]] = []

    @takes(
        Options,
        first=typer.Option("--first", min=1),
        dry=...,
        to=Annotated[Path | None, typer.Option("--to", help="The folder.")],
        edition=typer.Option("--edition", help="Which."),
    )
    def command(
        options: Options,
        *,
        form: FormatOption = Format.TABLE,
        dry: Annotated[bool, typer.Option("--dry", help="Only show.")] = False,
        warehouse: WarehouseOption = DEFAULT_LOCATION,
    ) -> None:
        got.append((options, dry, form))

    app = typer.Typer(add_completion=False)
    app.command()(command)
    result = CliRunner().invoke(app, [*arguments])
    if result.exit_code or not got:
        return {"code": result.exit_code, "output": result.output}
    ((options, dry, form),) = got
    return options.model_dump() | {"dry": dry, "form": form.value}


def test_a_command_gets_its_flow_s_parameters_as_their_model() -> None:
    got = run("--edition", "may", "--to", "a/b", "--warehouse", "w.duckdb", "--dry")
    assert (got.pop("edition"), got.pop("to"), got.pop("first")) == ("may", "a/b", 3)
    assert got == {"warehouse": str(Path("w.duckdb").absolute()), "dry": True, "form": "table"}


def test_what_is_collected_is_what_was_asked_for() -> None:
    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    asked = CollectOptions(
        edition="may", created_from=first.replace(tzinfo=None),  # as Typer reads a day
        created_to=last, articles=7, wiki_api="https://wiki.test/api.php", spread=True, trial=True,
    ).request  # fmt: skip
    assert (asked.edition, asked.since, asked.until) == ("may", first, last)
    assert (asked.articles, asked.api_url) == (7, "https://wiki.test/api.php")
    assert (asked.spread, asked.trial) == (True, True)


def test_a_parameter_without_a_default_is_required() -> None:
    got = run()
    assert got["code"] == 2
    assert "Missing option '--edition'" in got["output"]


def test_help_lists_options_in_the_order_of_their_declaration_and_shows_a_field_s_text() -> None:
    shown = run("--help")["output"]
    places = [shown.index(o) for o in ("--first", "--dry", "--to", "--edition", "--format")]
    assert places == sorted(places)
    assert "only this many. [default: 3]" in shown


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_defaults_of_a_command_are_those_of_its_flow(name: str) -> None:
    module, _, function = COMMANDS[name].partition(":")
    command = inspect.signature(getattr(import_module(f"flows.cli.{module}"), function))
    flow = inspect.signature(load_flow(name).fn)
    alike = command.parameters.keys() & flow.parameters.keys() - {"warehouse"}
    assert alike
    for each in alike:
        assert command.parameters[each].default == flow.parameters[each].default


def test_every_served_flow_has_its_command() -> None:
    assert {*SERVED_FLOWS} <= {*COMMANDS}
