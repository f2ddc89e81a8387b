"""Commands about the systems under test: agents, what they are asked, backfill."""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl
import typer

from flows.console import ANSWERS, REMARKS
from flows.options import Shown, WarehousePath
from flows.run import run_flow
from flows.show import Format, print_frame, print_leaderboard
from tasks.agent_estimates import estimate_reports
from tasks.agent_sessions import ask_of, check_agents, open_asked
from tasks.agents.kinds import Place
from tasks.configuration.agents import AgentEntry, FileDropAsk, load_agents
from tasks.configuration.models import load_judges
from tasks.judging import check_judges
from tasks.resolving import ask_again, enter_cost, point_to
from tasks.selection import check_edition
from tasks.unreported import check_askable, jobs_frame, prompted_editions
from tasks.warehouse.jobs import JobState
from tasks.warehouse.reading import reading
from tasks.warehouse.store import DEFAULT_PATH, open_warehouse

agents = typer.Typer(
    invoke_without_command=True,
    help="The agents there are; `check` one with a cheap call, look at their `jobs`, enter a "
    "`cost`.",
)
IMPORTED = "imported"
EditionOption = Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")]
AgentArgument = Annotated[str, typer.Argument(help="An agent of configs/agents.yaml.")]
BudgetOption = Annotated[
    float | None,
    typer.Option("--budget", min=0.0, help="USD this run may spend at most; what is left waits."),
]
FirstOption = Annotated[
    int | None,
    typer.Option("--first", min=1, help="Only so many of the missing reports, to try it out."),
]
EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Only say what it would cost; nothing is asked.")
]


@agents.callback()
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
    ANSWERS.print(f"Imported: {', '.join(others)}", highlight=False)


@agents.command("check")
def check(agent: AgentArgument) -> None:
    """Make one cheap call to an agent, and say what is wrong if it cannot be asked."""
    ask = ask_of(agent)
    if isinstance(ask, FileDropAsk):
        folder = Path(ask.folder)
        state = "there" if folder.is_dir() else "not there yet; `evergreen ask` makes it"
        ANSWERS.print(f"{agent}: reports are put into {folder} ({state}).", markup=False)
        return
    check_agents([agent], None)

    async def checked() -> str:
        with TemporaryDirectory() as work:
            client = await open_asked(agent, ask, Place(work=Path(work), archive=None))
            try:
                return await client.check()
            finally:
                await client.close()

    ANSWERS.print(f"{agent}: {asyncio.run(checked())}", markup=False, highlight=False)


@agents.command("jobs")
def jobs(
    names: Annotated[
        list[str] | None, typer.Argument(help="Jobs to decide about, by name or its end.")
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
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Every report that was asked for: its job, what became of it, what it cost.

    A job that is `lost` was sent, but its answer never came: it may have been bought. Look for
    it at the provider, then say `--remote-id ID`, or `--ask-again` if it is not there.
    """
    if not names:
        if again or remote_id:
            raise typer.BadParameter("name the jobs that --ask-again or --remote-id is about.")
        with reading(warehouse) as source:
            if source.notice:
                REMARKS.print(source.notice, style="yellow", markup=False)
            print_frame(jobs_frame(source, edition, agent, state), form)
        return
    if again == bool(remote_id) or (remote_id and len(names) > 1):
        raise typer.BadParameter("say --ask-again, or for one job --remote-id.")
    with open_warehouse(warehouse, on_wait=REMARKS.print) as store:
        if remote_id:
            found = point_to(store, names[0], remote_id)
            _remark(f"{found.job} is looked for as {remote_id} by the next run.")
            changed = [found]
        else:
            changed = ask_again(store, names)
            _remark(f"{len(changed)} jobs are given up; the next run asks anew.")
    for name, where in sorted({(job.agent, job.edition) for job in changed}):
        _remark(f"Next: evergreen ask {name} --edition {where}")


@agents.command("cost")
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
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Enter what it cost people to get reports by hand; again replaces."""
    if usd is None and minutes is None:
        raise typer.BadParameter("give --usd, --minutes or both.")
    with open_warehouse(warehouse, on_wait=REMARKS.print) as store:
        n = enter_cost(store, edition, agent, assignment or [], usd=usd, minutes=minutes, note=note)
    _remark(f"{edition}: entered for {n} reports of {agent}.")
    _remark('See: evergreen sql "SELECT * FROM report_costs"')


def ask(
    names: Annotated[list[str], typer.Argument(help="Agents of configs/agents.yaml.")],
    edition: EditionOption,
    assignment: Annotated[
        list[str] | None,
        typer.Option("--assignment", help="Only this one; may be given again."),
    ] = None,
    first: FirstOption = None,
    budget: BudgetOption = None,
    estimate: EstimateOption = False,
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Get the reports of an edition that agents have not written yet; nothing is bought twice.

    Interrupted or killed, the same command goes on waiting for the jobs under way.
    """
    if not estimate:
        check_agents(names, budget)
    with open_warehouse(warehouse, on_wait=REMARKS.print) as store:
        check_edition(store, edition)
        check_askable(store, edition)
        if estimate:
            print_frame(estimate_reports(store, [edition], names, first), Format.TABLE)
            return
        complete, outcome = run_flow(
            "ask",
            {
                "edition": edition,
                "agents": names,
                "assignments": assignment,
                "first": first,
                "budget_usd": budget,
                "warehouse": str(store.path),
            },
        )
    _remark(outcome)
    if not complete:
        raise typer.Exit(1)
    _remark(f"Next: evergreen evaluate --edition {edition}")


def backfill(
    agent: AgentArgument,
    edition: Annotated[
        list[str] | None,
        typer.Option("--edition", help="May be given again; all with prompts if not given."),
    ] = None,
    protocol: Annotated[
        list[str] | None, typer.Option("--protocol", help="All of them if not given.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="One of those `evergreen judges` lists.")
    ] = None,
    extractor: Annotated[
        str | None, typer.Option("--extractor", help="As for `evaluate`: a judge that extracts.")
    ] = None,
    first: FirstOption = None,
    budget: BudgetOption = None,
    estimate: EstimateOption = False,
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Bring an agent into editions: its missing reports, then only its cells, then the ranks.

    The budget covers reports and verdicts together. No row of another agent is touched.
    """
    if not estimate:
        check_agents([agent], budget)
        deciders = [judge or load_judges().default, *([extractor] if extractor else [])]
        check_judges(deciders, budget)
    with open_warehouse(warehouse, on_wait=REMARKS.print) as store:
        for name in edition or []:
            check_edition(store, name)
            check_askable(store, name)
        names = edition or prompted_editions(store)
        if estimate:
            print_frame(estimate_reports(store, names, [agent], first), Format.TABLE)
            _remark("Reports only; `evergreen estimate` says what judging them would cost.")
            return
        complete, outcome = run_flow(
            "backfill",
            {
                "agent": agent,
                "editions": names,
                "protocols": protocol,
                "judge": judge,
                "extractor": extractor,
                "first": first,
                "budget_usd": budget,
                "warehouse": str(store.path),
            },
        )
        for name in names:
            print_leaderboard(store, name, Format.TABLE)
    _remark(outcome)
    if not complete:
        raise typer.Exit(1)


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


def _key_state(variable: str | None) -> str | None:
    if variable is None:
        return None
    return variable + (" set" if os.environ.get(variable, "").strip() else " not set")


def _remark(text: str) -> None:
    REMARKS.print(text, markup=False, highlight=False)
