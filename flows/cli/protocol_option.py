"""The option of commands that judge by several protocols: to name them takes their registry."""

from typing import Annotated

import typer

from tasks.protocols.registry import PROTOCOLS

Protocols = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        help=f"One of {', '.join(sorted(PROTOCOLS))}, or a rubric of your own by its file or name; "
        "may be given again. Those made for its kind of edition if not given.",
    ),
]
