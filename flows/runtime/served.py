"""The deployments that `evergreen serve` has registered with a Prefect server."""

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import DeploymentFilter, FlowFilter
from prefect.client.schemas.responses import DeploymentResponse

TAG = "evergreen"
"""The tag of all our deployments."""
DEPLOYED = "prefect.yaml"
"""The tag of those that `prefect deploy` makes, which `serve` leaves alone."""


async def find_deployments(
    client: PrefectClient, flow: str, warehouse: str
) -> list[DeploymentResponse]:
    """Return our deployments of a flow that work on a warehouse, the newest first.

    warehouse: its normalised address, as in `Location.url`.
    """
    found = await client.read_deployments(
        flow_filter=FlowFilter.model_validate({"name": {"any_": [flow]}}),
        deployment_filter=DeploymentFilter.model_validate({"tags": {"all_": [TAG]}}),
    )
    ours = [each for each in found if each.parameters.get("warehouse") == warehouse]
    return sorted(ours, key=lambda each: str(each.updated), reverse=True)
