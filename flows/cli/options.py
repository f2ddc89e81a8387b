"""Options shared by several commands, and commands whose options are a flow's parameters.

It must load fast: every help text imports it.
"""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin, get_type_hints

import typer

from flows.display.formats import Format
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import Location, parse_location

if TYPE_CHECKING:
    from tasks.planning.options import FlowOptions


def _parse_location(text: str) -> Location:
    try:
        return parse_location(text)
    except WarehouseError as error:
        raise typer.BadParameter(str(error)) from None


DAYS = ["%Y-%m-%d"]
"""The form of days; they begin in UTC."""
WAREHOUSE_OPTION = typer.Option(
    "--warehouse",
    envvar="EVERGREEN_WAREHOUSE",
    parser=_parse_location,
    metavar="PATH|URL",
    is_eager=True,  # known before what is looked up in it
    help="The warehouse: a DuckDB file, or ducklake:postgres:…?files=… for several hosts.",
)
WarehouseOption = Annotated[Location, WAREHOUSE_OPTION]
TextOrJsonOption = Annotated[
    Literal["table", "json"], typer.Option("--format", help="The output format.")
]
"""The format of results that are no table, so not CSV."""
FormatOption = Annotated[Format, typer.Option("--format", help="The output format.")]


def _choose_edition(context: typer.Context, edition: str | None) -> str | None:
    """Return the edition that is given, else the newest of the warehouse."""
    if edition is not None or context.resilient_parsing:  # which a shell's completion does
        return edition
    from flows.cli.warehouse import choose_edition  # slow: opens DuckDB

    return choose_edition(context.params["warehouse"])


def make_edition_option(text: str) -> Any:
    """Make the option for an edition that exists: the newest if not given. text: its help."""
    return typer.Option(
        "--edition",
        help=text,
        default_factory=lambda: None,
        callback=_choose_edition,
        show_default="the newest",
    )


EditionOption = Annotated[str, make_edition_option("An edition of the warehouse.")]
AgentsOption = Annotated[
    list[str] | None, typer.Option("--agent", help="Only this agent; may be repeated.")
]
AskedAgentsOption = Annotated[
    list[str], typer.Option("--agent", help="An agent of configs/agents.yaml; may be repeated.")
]
AssignmentsOption = Annotated[
    list[str] | None, typer.Option("--assignment", help="Only this one; may be repeated.")
]
FolderOption = Annotated[
    Path, typer.Option("--to", help="The folder to write; created if missing.")
]
JudgeOption = Annotated[
    str | None, typer.Option("--judge", help="One of those `evergreen judges` lists.")
]
JudgesOption = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Only this judge; may be repeated. All if not given."),
]
ScoreProtocolsOption = Annotated[
    list[str] | None,
    typer.Option("--protocol", help="Only this one; may be repeated. All if not given."),
]
CallJudgeOption = Annotated[str | None, typer.Option("--judge", help="Only calls of this judge.")]
ScoreJudgeOption = Annotated[
    str | None,
    typer.Option("--judge", help="The judge of the scores; the default judge if not given."),
]
ExtractorOption = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        help="Who extracts facts and claims that nobody has extracted: a judge, or `offline`. The "
        "judge if not given and it calls a model; it asks first if there is no budget.",
    ),
]
ExtractAgainOption = Annotated[
    bool,
    typer.Option(
        "--extract-again",
        help="Replace facts and claims that another has extracted, and ask about empty lists that "
        "were asked for once; published ones stay.",
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget", min=0.0, help="The most USD this run may spend; the rest stays pending."
    ),
]
BatchOption = Annotated[bool, typer.Option("--batch", help="Use the models' batch APIs.")]


def takes(model: "type[FlowOptions]", **declared: Any) -> Callable[[Any], Any]:
    """Give a command the options that a flow's parameters are made from; it gets them as the model.

    Args:
        declared: an option for each field, in the order of the help, or a type annotated with one.
            Its default is the field's, and so is its help if it has none of its own. `...` stands
            for an option of the command itself; those that are not named come last.
    """

    def declare(command: Any) -> Any:
        own = dict(signature(command).parameters)
        del own["options"]
        types = get_type_hints(model)
        parameters = [
            own.pop(name) if option is ... else _make_parameter(model, types, name, option)
            for name, option in declared.items()
        ]
        fields = [name for name, option in declared.items() if option is not ...]

        @wraps(command)
        def run(**given: Any) -> None:
            values = {name: given.pop(name) for name in fields}
            values = {
                n: str(value) if isinstance(value, Path) else value for n, value in values.items()
            }
            command(model(**values, warehouse=given["warehouse"].url), **given)

        keyword = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*parameters, *own.values())]
        run.__signature__ = Signature(keyword)  # type: ignore[attr-defined]  # what Typer reads
        return run

    return declare


def _make_parameter(
    model: "type[FlowOptions]", types: dict[str, Any], name: str, option: Any
) -> Parameter:
    field = model.model_fields[name]
    if get_origin(option) is not Annotated:
        option.help = option.help or field.description
        option = Annotated[types[name], option]
    default = Parameter.empty if field.is_required() else field.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
