"""`evergreen agents`: list agents, check one, see jobs, record what people spent."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import (
    AgentsOption,
    AssignmentsOption,
    EditionOption,
    FormatOption,
    WarehouseOption,
)
from flows.cli.warehouse import open_existing_warehouse, open_to_read
from flows.display.console import print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.agents.endings import list_coming_ends
from tasks.agents.kind import AgentFolders
from tasks.agents.kinds.file_drop import FileDropAsk
from tasks.agents.registry import AgentEntry, load_agents
from tasks.base import format_count
from tasks.configuration.secrets import KeySettings
from tasks.jobs.pending import load_job_fields, load_jobs
from tasks.jobs.resolve import ask_again, record_cost, set_remote_id
from tasks.jobs.sessions import check_agents, list_private, load_ask_entry, open_agent_client
from tasks.warehouse.jobs import JobState
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import load_latest_manifests

IMPORTED = "imported"
AgentArgument = Annotated[str, typer.Argument(help="An agent of configs/agents.yaml.")]


def list_agents(context: typer.Context, form: FormatOption = Format.TABLE) -> None:
    """List the agents of configs/agents.yaml, how they are asked, and what a report costs."""
    if context.invoked_subcommand:
        return
    known = load_agents().agents
    rows = [_format_agent(name, entry) for name, entry in known.items()]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if form is not Format.TABLE:
        print_frame(frame, form)
        return
    asked = frame.filter(pl.col("asked") != IMPORTED)
    shown = asked.select("agent", "asked", "model", "usd", "at_most", "key")
    print_frame(shown, form, spare=("at_most", "asked", "model"))
    others = frame.filter(pl.col("asked") == IMPORTED)["agent"]
    print_result(f"Imported: {', '.join(others)}")
    for ending in list_coming_ends([*known], utc_now().date()):
        print_result(ending, "yellow")


def check(agent: AgentArgument, warehouse: WarehouseOption = DEFAULT_LOCATION) -> None:
    """Make one cheap call to an agent, and report what is wrong if it fails."""
    ask = load_ask_entry(agent)
    if isinstance(ask, FileDropAsk):
        folder = Path(ask.folder)
        state = "exists" if folder.is_dir() else "does not exist yet; `evergreen ask` creates it"
        print_result(f"{agent}: reports are put into {folder} ({state}).")
        return
    check_agents([agent], None)
    exported = [folder for folder, _ in load_latest_manifests(warehouse)]

    async def checked() -> str:
        with TemporaryDirectory() as work:
            archive = exported[0] if exported else None
            place = AgentFolders(Path(work), archive, list_private(warehouse))
            client = await open_agent_client(agent, ask, place)
            try:
                return await client.check()
            finally:
                await client.close()

    print_result(f"{agent}: {asyncio.run(checked())}")


def jobs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="JOB", help="Jobs to show or to resolve, by name or its end."),
    ] = None,
    edition: Annotated[str | None, typer.Option(help="Only jobs of this edition.")] = None,
    agent: AgentsOption = None,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    again: Annotated[
        bool,
        typer.Option("--ask-again", help="Give up the named jobs; the next run buys them again."),
    ] = False,
    remote_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The provider's id of a lost job that you have found."),
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """List the jobs, their states and costs, or show some of them in full.

    running, overdue: the next run checks them. answered: the next run makes the report. refused:
    nothing was bought, the next run asks again. failed, lost: you decide.

    A `lost` job was sent, but no answer came: it may have been bought. Look for it at the
    provider, then give `--remote-id ID`, or `--ask-again` if it is not there.
    """
    if not names:
        if again or remote_id:
            raise typer.BadParameter("name the jobs for --ask-again or --remote-id.")
        with open_to_read(warehouse) as source:
            listed = load_jobs(source, edition, agent or (), state)
            print_frame(_select_terminal_columns(listed) if form is Format.TABLE else listed, form)
        return
    if (again and remote_id) or (remote_id and len(names) > 1):
        raise typer.BadParameter("give --ask-again, or --remote-id for one job.")
    if not again and not remote_id:
        with open_to_read(warehouse) as source:
            for name in names:
                print_frame(load_job_fields(source, name), form)
        return
    with open_existing_warehouse(warehouse) as store:
        if remote_id:
            found = set_remote_id(store, names[0], remote_id)
            print_message(f"{found.job} : the next run looks for it as {remote_id}.")
            changed = [found]
        else:
            changed = ask_again(store, names)
            print_message(f"{format_count(len(changed), 'job')} given up; the next run asks again.")
    for name, where in sorted({(job.agent, job.edition) for job in changed}):
        print_message(f"Next: evergreen ask --agent {name} --edition {where}")


def cost(
    agent: Annotated[str, typer.Argument(help="An agent with reports in the edition.")],
    edition: EditionOption,
    assignment: AssignmentsOption = None,
    usd: Annotated[float | None, typer.Option(min=0.0, help="USD per report.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="A person's minutes per report.")
    ] = None,
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="E.g. which subscription.")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Record what it cost people to get reports by hand; replaces earlier entries."""
    if usd is None and minutes is None:
        raise typer.BadParameter("give --usd, --minutes or both.")
    with open_existing_warehouse(warehouse) as store:
        n = record_cost(
            store, edition, agent, assignment or [], usd=usd, minutes=minutes, note=note
        )
    print_message(f"{edition}: recorded for {format_count(n, 'report')} of {agent}.")
    print_message('See: evergreen sql "SELECT * FROM report_costs"')


def _format_agent(name: str, entry: AgentEntry) -> dict[str, Any]:
    ask = entry.ask
    price = ask.price if ask else None
    return {
        "agent": name,
        "name": entry.name,
        "maker": entry.maker,
        "asked": ask.kind if ask else IMPORTED,
        "model": getattr(ask, "model", None),
        "usd": price.typical_usd if price else None,
        "at_most": price.most_usd if price else None,
        "key": ask.describe_state() if isinstance(ask, KeySettings) else None,
        "notes": entry.notes,
    }


def _select_terminal_columns(jobs: pl.DataFrame) -> pl.DataFrame:
    """Select the columns that fit a terminal; the end of a job's name is enough."""
    minutes = (pl.col("seen_at") - pl.col("created_at")).dt.total_seconds() / 60
    return jobs.select(
        pl.col("job").str.tail(8),
        "agent",
        "assignment",
        pl.concat_str(
            "state", pl.when(pl.col("turn") > 1).then(pl.lit(" (its reply)")).otherwise(pl.lit(""))
        ).alias("state"),
        pl.col("cost_usd").round(3).alias("usd"),
        pl.col("created_at").dt.strftime("%m-%d %H:%M").alias("asked"),
        minutes.round(1).alias("min"),
        pl.col("error").str.head(200),
    )
