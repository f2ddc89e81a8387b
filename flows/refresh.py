"""The main path of a month: from the wiki to the published leaderboard."""

from datetime import datetime

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext

from flows.ask import ask
from flows.assign import assign
from flows.collect import collect
from flows.display.console import remark
from flows.evaluate import evaluate
from flows.fetch import fetch
from flows.runtime.artifacts import leave_costs, leave_leaderboard
from flows.runtime.parameters import AskedAgent, Count, JudgeName, Usd
from flows.runtime.steps import PARTIAL, Course
from flows.runtime.warehouse import hold_warehouse
from flows.site_step import check_publishing, publishing
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.refresh import load_refresh
from tasks.costs.budget import spending
from tasks.planning.month import (
    Month,
    Wishes,
    check_month,
    has_pages,
    has_prompts,
    in_turn,
    is_frozen,
    month_of,
    reporting,
    searches_archive,
    spent_before,
)
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


async def steps(course: Course, store: Warehouse, month: Month) -> None:
    """The month, a step after the other. Each is a flow of its own that does only what is missing,
    so a month that was ended goes on where it was. What a step could not do is left; the next one
    begins if there is anything for it to do, and no later one does where one has failed."""
    edition, path = month.edition, store.url
    window = month.created_from, month.created_to

    await course.take("collect", collect(
        edition, *window, month.articles, month.wiki_api, warehouse=path, return_state=True
    ))  # fmt: skip
    if not is_frozen(store, edition):
        return
    for protocol in month.protocols:
        await course.take(f"assign {protocol}", assign(
            edition, protocol, month.judge, batch=month.batch, warehouse=path, return_state=True
        ))  # fmt: skip
    if not has_prompts(store, edition):
        return
    for agents in in_turn(month):
        step = f"ask {', '.join(agents)}"
        if searches_archive(agents[0]) and not has_pages(store, edition):
            course.note(step, PARTIAL, "No page is archived to search: ask others that cite some.")
            continue
        await course.take(step, ask(edition, agents, warehouse=path, return_state=True))
        if wrote := reporting(store, edition, agents):
            await course.take("fetch", fetch(
                edition, wrote, extractor=month.extractor, warehouse=path, return_state=True
            ))  # fmt: skip
    if not (wrote := reporting(store, edition, month.agents)):
        return
    await course.take("evaluate", evaluate(
        edition, None, wrote, month.judge, path, month.extractor, batch=month.batch,
        return_state=True,
    ))  # fmt: skip


def _name() -> str:
    """Of the run, in the Prefect UI: also where the edition's name is still to be made."""
    context = FlowRunContext.get()
    asked = context.parameters.get("edition") if context and context.parameters else None
    try:
        return f"refresh · {asked or load_refresh().edition_of(_scheduled_for())}"
    except ConfigurationError:
        return "refresh"  # the run itself says what is wrong


@flow(name="refresh", flow_run_name=_name)
async def refresh(
    edition: str | None = None,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    articles: Count | None = None,
    wiki_api: str | None = None,
    agents: list[AskedAgent] | None = None,
    judge: JudgeName | None = None,
    extractor: JudgeName | None = None,
    budget_usd: Usd | None = None,
    batch: bool | None = None,
    to_publish: bool = True,
    site: str | None = None,
    approve: bool | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Make a month's edition, have agents write it, judge what they wrote, publish: all that is
    still to be done of it.

    What is not given is as `configs/refresh.yaml` has it, or as the edition was begun with. Run
    again, a finished month is verified; nothing of it is bought or fetched a second time.

    Args:
        edition: its name; that of the month for which this run was scheduled unless given.
        created_from: first day (UTC) of the window in which its articles were created.
        created_to: the day after the window's last; the day of the schedule unless given.
        articles: how many to choose.
        wiki_api: another wiki than that of `configs/wikipedia.yaml`.
        agents: of `configs/agents.yaml`, such as can be asked.
        judge: of `configs/judges.yaml`.
        extractor: a judge that extracts facts and claims.
        budget_usd: what the month may spend at most on agents and judges, all of its runs together.
        batch: ask judges' models through their batch APIs.
        to_publish: off: no site is written.
        site: the folder of the site, replaced as a whole.
        approve: show a person what would be published, and wait for the decision.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`; a completed state named `Partial` when something is left to do, with the steps
        that it is of; `Declined` when a person did not want it published.
    """
    wishes = Wishes(
        edition=edition, created_from=created_from, created_to=created_to, articles=articles,
        wiki_api=wiki_api, agents=agents, judge=judge, extractor=extractor, batch=batch,
        budget_usd=budget_usd, site=site, approve=approve, publish=to_publish,
    )  # fmt: skip
    with await hold_warehouse(warehouse) as store:
        month, began = month_of(store, load_refresh(), wishes, _scheduled_for()), utc_now()
        check_month(store, month)
        await check_publishing(month)
        course = Course(month.edition)
        with spending(store, _left(store, month)), tags(f"edition:{month.edition}"):
            await course.follow(steps(course, store, month))
        if not course.stop:
            await leave_leaderboard(store, month.edition)
            await leave_costs(store, began, "neither the agents nor the judge cost anything")
        path = store.url
    # From here on nothing is held: a person may have to decide.
    if not course.stop:
        await course.follow(publishing(course, month, path))
    await course.leave()
    return course.outcome()


def _scheduled_for() -> datetime:
    """When this run was to begin; a run that is gone on with keeps it."""
    context = FlowRunContext.get()
    planned = context.flow_run.expected_start_time if context and context.flow_run else None
    return planned or utc_now()


def _left(store: Warehouse, month: Month) -> float | None:
    """What this run may spend: the month's budget without what earlier runs have taken of it."""
    if month.budget_usd is None:
        return None
    spent = spent_before(store, month)
    if spent:
        remark(
            f"Earlier runs of {month.edition} have spent ${spent:,.2f} of the budget of "
            f"${month.budget_usd:,.2f}."
        )
    return max(0.0, month.budget_usd - spent)
