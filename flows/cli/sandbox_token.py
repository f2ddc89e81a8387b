"""`evergreen sandbox token`: a token for the sandbox server."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from flows.cli.options import WarehouseOption, make_edition_option
from flows.display.console import print_result
from tasks.sandbox.source import sandbox_folder
from tasks.sandbox.tokens import SandboxToken, find_token_key, issue_token
from tasks.warehouse.location import DEFAULT_LOCATION


def sandbox_token(
    edition: Annotated[str, make_edition_option("The edition that the sandbox serves.")],
    assignment: Annotated[str, typer.Option(help="What the agent works on.")],
    agent: Annotated[str, typer.Option(help="Who will use it.")],
    hours: Annotated[
        float, typer.Option(min=0.01, max=24 * 30, help="How long it is valid.")
    ] = 24.0,
    index: Annotated[
        Path | None, typer.Option(help="The sandbox's --index, if it has one.")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Make a token for the sandbox, for an agent that Evergreen does not ask itself.

    `evergreen ask` makes its own. What the token asks for is kept under its edition, assignment and
    agent. The sandbox must have the same EVERGREEN_SANDBOX_KEY or, without one, the same warehouse.
    """
    claims = SandboxToken(
        edition=edition, assignment=assignment, agent=agent, job=f"manual-{uuid4().hex[:16]}"
    )
    key = find_token_key(index or sandbox_folder(warehouse))
    print_result(issue_token(key, claims, timedelta(hours=hours)), wrap=False)
