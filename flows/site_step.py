"""The last step of a month: publish its site, at once or after a person's approval.

The warehouse is closed while a person decides. A run from the command line waits in its own
process. A run of a deployment would free its slot (Prefect's suspension), which a subflow cannot:
so it starts a run of the deployment `publish`, served beside it, which waits instead.
"""

from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.deployments.flow_runs import arun_deployment

from flows.display.console import print_always
from flows.publish import publish
from flows.runtime.approval import get_run_url
from flows.runtime.outcomes import read_outcome
from flows.runtime.served import find_deployments
from flows.runtime.steps import LEFT_OUT, WAITING, RunSteps
from flows.runtime.warehouse import hold_warehouse
from tasks.configuration.errors import ConfigurationError
from tasks.editions.state import has_figures
from tasks.outcome import Outcome
from tasks.planning.month import Month, MonthSite
from tasks.publishing.downloads import describe_current, hash_figures, is_current


async def check_publishing(month: Month) -> None:
    """Check that a run can ask for approval, before anything is paid for.

    Raises:
        ConfigurationError: this is a run of a deployment, and `publish` is not served.
    """
    deployment = _get_current_deployment()
    if deployment is None or month.site is None or not month.site.approve:
        return
    await _find_publisher(deployment)


async def publish_month(steps: RunSteps, month: Month, warehouse: str) -> None:
    """Publish the month's figures, if configured. A site that shows the current figures is left
    unchanged, and nobody is asked."""
    edition, site = month.edition, month.site
    if site is None:
        return
    with await hold_warehouse(warehouse) as store:
        if not has_figures(store, edition):
            return
        published = is_current(store, edition, site.path, site.judges)
        figures = hash_figures(store, edition, site.judges)
    deployment = _get_current_deployment()
    if published:
        steps.record("publish", Outcome("cached", describe_current(edition, site.folder)))
    elif site.only_complete and not steps.is_complete:
        left_out = f"{edition} is published once nothing is pending."
        steps.record("publish", Outcome("done", left_out, other_name=LEFT_OUT))
    elif site.approve and deployment:
        page = await _start_approval_run(
            edition, site, figures, warehouse, await _find_publisher(deployment)
        )
        message = f"{edition} is waiting for approval to be published: {page}"
        print_always(message)
        steps.record("publish", Outcome("done", message, other_name=WAITING))
    else:
        state: State[Any] = await publish(
            edition=edition, to=site.folder, judges=[*site.judges] or None, approve=site.approve,
            approval_hours=site.approval_hours, warehouse=warehouse, return_state=True,
        )  # fmt: skip
        await steps.run("publish", read_outcome(state))


async def _start_approval_run(
    edition: str, site: MonthSite, figures: str, warehouse: str, publisher: UUID
) -> str:
    """Start a run that asks a person to approve these figures; return the URL of its page.

    If a run already waits with the same figures, return that one; after an ended one, start anew.
    """
    key = base_key = f"{edition} {figures} {site.folder}"
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
        key = f"{base_key} after {run.id}"
    return f"{get_run_url().rpartition('/')[0]}/{run.id}"


def _get_current_deployment() -> UUID | None:
    """Return the deployment of this run; None if it was started otherwise."""
    context = FlowRunContext.get()
    return context.flow_run.deployment_id if context and context.flow_run else None


async def _find_publisher(deployment: UUID) -> UUID:
    """Return the deployment of `publish` for the same warehouse as another's.

    Raises:
        ConfigurationError: it is not served.
    """
    async with get_client() as client:
        warehouse = (await client.read_deployment(deployment)).parameters["warehouse"]
        found = await find_deployments(client, "publish", warehouse)
    if not found:
        raise ConfigurationError(
            f"Publishing needs approval in a run of `publish` on {warehouse}, which is not served. "
            "Serve it as well (`evergreen serve` without --only), or set `approve: false` in "
            "configs/refresh.yaml."
        )
    return found[0].id
