"""The last step of a month: its site, written at once or when a person has agreed.

Nothing holds the warehouse while a person decides. A run that was started from the command line
waits in its own process. A run of a deployment gives its place back while it waits (Prefect's
suspension), which a flow inside another cannot: there a run of the deployment `publish` that is
served beside it is started, and waits.
"""

from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.deployments.flow_runs import arun_deployment
from prefect.exceptions import ObjectNotFound

from flows.display.console import insist
from flows.publish import publish
from flows.runtime.approval import run_page
from flows.runtime.steps import DONE, LEFT_OUT, WAITING, Course
from flows.runtime.warehouse import hold_warehouse
from tasks.configuration.errors import ConfigurationError
from tasks.planning.month import Month, Site, has_figures
from tasks.publishing.unchanged import figures_sha, is_published, published_message


async def check_publishing(month: Month) -> None:
    """See that there will be a run for a person to decide in: better now than when all is paid.

    Raises:
        ConfigurationError: this is a run of a deployment, and `publish` is not served beside it.
    """
    deployment = _deployment()
    if deployment is None or month.site is None or not month.site.approve:
        return
    name = await _publisher(deployment)
    async with get_client() as client:
        try:
            await client.read_deployment_by_name(name)
        except ObjectNotFound:
            raise ConfigurationError(
                f"Publishing is to wait for a person, in a run of {name}, which is not served. "
                "Serve it as well (`evergreen serve` without --only), or set `approve: false` in "
                "configs/refresh.yaml."
            ) from None


async def publishing(course: Course, month: Month, warehouse: str) -> None:
    """Publish what there is, if it is to be published. A site that shows these very figures is
    left as it is, and nobody is asked about it."""
    edition, site = month.edition, month.site
    if site is None:
        return
    with await hold_warehouse(warehouse) as store:
        if not has_figures(store, edition):
            return
        is_there = is_published(store, edition, site.path, site.judges)
        figures = figures_sha(store, edition, site.judges)
    deployment = _deployment()
    if is_there:
        course.note("publish", DONE, published_message(edition, site.folder))
    elif site.only_complete and not course.is_complete:
        course.note("publish", LEFT_OUT, f"{edition} is published once nothing of it is left.")
    elif site.approve and deployment:
        page = await _handed_over(edition, site, figures, warehouse, await _publisher(deployment))
        message = f"{edition}: a person is asked whether it is to be published: {page}"
        insist(message)
        course.note("publish", WAITING, message)
    else:
        await course.take("publish", publish(
            edition, site.folder, list(site.judges) or None, approve=site.approve,
            approval_hours=site.approval_hours, warehouse=warehouse, return_state=True,
        ))  # fmt: skip


async def _handed_over(
    edition: str, site: Site, figures: str, warehouse: str, publisher: str
) -> str:
    """Have a run of its own ask a person about these figures; the address of its page.

    One that waits with the same figures is not joined by a second; one that has ended is followed
    by another.
    """
    key = about = f"{edition} {figures} {site.folder}"
    parameters = {
        "edition": edition,
        "to": site.folder,
        "judges": list(site.judges) or None,
        "approve": True,
        "approval_hours": site.approval_hours,
        "warehouse": warehouse,
    }
    while True:
        run = await arun_deployment(
            publisher,
            parameters=parameters,
            timeout=0,
            as_subflow=False,  # Prefect does not suspend subflows
            idempotency_key=key,
        )
        if run.state is None or not run.state.is_final():
            break
        key = f"{about} after {run.id}"
    return f"{run_page().rpartition('/')[0]}/{run.id}"


def _deployment() -> UUID | None:
    """That of which this is a run; None where it was started otherwise."""
    context = FlowRunContext.get()
    return context.flow_run.deployment_id if context and context.flow_run else None


async def _publisher(deployment: UUID) -> str:
    """The deployment that publishes from the same warehouse: it has the same name."""
    async with get_client() as client:
        return f"publish/{(await client.read_deployment(deployment)).name}"
