"""`evergreen agents`: who there is, a cheap call, jobs, what people spent."""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import Shown, WarehouseAt
from flows.cli.warehouse import existing_warehouse
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.agents.kinds import Place
from tasks.configuration.agents import AgentEntry, FileDropAsk, load_agents
from tasks.jobs.resolve import ask_again, enter_cost, point_to
from tasks.jobs.sessions import ask_of, check_agents, open_asked
from tasks.pending.reports import job_frame, jobs_frame
from tasks.warehouse.jobs import JobState
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading
from tasks.warehouse.snapshot import latest_manifests

IMPORTED = "imported"
EditionOption = Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")]
AgentArgument = Annotated[str, typer.Argument(help="An agent of configs/agents.yaml.")]


def list_agents(context: typer.Context, form: Shown = Format.TABLE) -> None:
    """The agents of configs/agents.yaml: how they are asked, and what a report costs."""
    if context.invoked_subcommand:
        return
    known = load_agents().agents
    rows = [_agent_row(name, entry) for name, entry in known.items()]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if form is not Format.TABLE:
        print_frame(frame, form)
        return
    asked = frame.filter(pl.col("asked") != IMPORTED)
    print_frame(asked.select("agent", "asked", "model", "usd", "at_most", "key"), form)
    others = frame.filter(pl.col("asked") == IMPORTED)["agent"]
    ANSWERS.print(f"Imported: {', '.join(others)}", markup=False, highlight=False)


def check(agent: AgentArgument, warehouse: WarehouseAt = DEFAULT) -> None:
    """Make one cheap call to an agent, and say what is wrong if it cannot be asked."""
    ask = ask_of(agent)
    if isinstance(ask, FileDropAsk):
        folder = Path(ask.folder)
        state = "there" if folder.is_dir() else "not there yet; `evergreen ask` makes it"
        ANSWERS.print(f"{agent}: reports are put into {folder} ({state}).", markup=False)
        return
    check_agents([agent], None)
    exported = [folder for folder, _ in latest_manifests(warehouse)]

    async def checked() -> str:
        with TemporaryDirectory() as work:
            place = Place(work=Path(work), archive=exported[0] if exported else None)
            client = await open_asked(agent, ask, place)
            try:
                return await client.check()
            finally:
                await client.close()

    ANSWERS.print(f"{agent}: {asyncio.run(checked())}", markup=False, highlight=False)


def jobs(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Jobs to look at or to decide about, by name or its end."),
    ] = None,
    edition: Annotated[str | None, typer.Option("--edition", help="Only this edition's.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only this agent's.")] = None,
    state: Annotated[
        JobState | None, typer.Option("--state", help="Only those that are in this state.")
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--ask-again", help="Give the named jobs up: the next run buys them anew."),
    ] = False,
    remote_id: Annotated[
        str | None,
        typer.Option("--remote-id", help="The provider's id of a lost job, found by you."),
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Every report that was asked for: its job, what became of it, what it cost; one whole.

    running, overdue: looked at by the next run. answered: its report is made by the next run.
    refused: nothing was bought, the next run asks. failed, lost: left to you.

    A job that is `lost` was sent, but its answer never came: it may have been bought. Look for
    it at the provider, then say `--remote-id ID`, or `--ask-again` if it is not there.
    """
    if not names:
        if again or remote_id:
            raise typer.BadParameter("name the jobs that --ask-again or --remote-id is about.")
        with reading(warehouse) as source:
            if source.notice:
                remark(source.notice, style="yellow")
            listed = jobs_frame(source, edition, agent, state)
            print_frame(_brief(listed) if form is Format.TABLE else listed, form)
        return
    if (again and remote_id) or (remote_id and len(names) > 1):
        raise typer.BadParameter("say --ask-again, or for one job --remote-id.")
    if not again and not remote_id:
        with reading(warehouse) as source:
            for name in names:
                print_frame(job_frame(source, name), form)
        return
    with existing_warehouse(warehouse) as store:
        if remote_id:
            found = point_to(store, names[0], remote_id)
            remark(f"{found.job} is looked for as {remote_id} by the next run.")
            changed = [found]
        else:
            changed = ask_again(store, names)
            remark(f"{len(changed)} jobs are given up; the next run asks anew.")
    for name, where in sorted({(job.agent, job.edition) for job in changed}):
        remark(f"Next: evergreen ask {name} --edition {where}")


def cost(
    agent: Annotated[str, typer.Argument(help="An agent with reports in the edition.")],
    edition: EditionOption,
    assignment: Annotated[
        list[str] | None,
        typer.Option("--assignment", help="Only this report; may be given again. All if not."),
    ] = None,
    usd: Annotated[float | None, typer.Option("--usd", min=0.0, help="Per report.")] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0.0, help="Of a person, per report.")
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="E.g. which subscription.")] = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Enter what it cost people to get reports by hand; again replaces."""
    if usd is None and minutes is None:
        raise typer.BadParameter("give --usd, --minutes or both.")
    with existing_warehouse(warehouse) as store:
        n = enter_cost(store, edition, agent, assignment or [], usd=usd, minutes=minutes, note=note)
    remark(f"{edition}: entered for {n} reports of {agent}.")
    remark('See: evergreen sql "SELECT * FROM report_costs"')


def _agent_row(name: str, entry: AgentEntry) -> dict[str, Any]:
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
        "key": _key_state(getattr(ask, "key_env", None)),
        "notes": entry.notes,
    }


def _brief(jobs: pl.DataFrame) -> pl.DataFrame:
    """Jobs in as few columns as a terminal has room for; the end of a name is enough of it."""
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


def _key_state(variable: str | None) -> str | None:
    if variable is None:
        return None
    return variable + (" set" if os.environ.get(variable, "").strip() else " not set")
