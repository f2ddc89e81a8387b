"""The option for several protocols, apart from the others because it loads the registry."""

from typing import Annotated

import typer

from tasks.protocols.registry import PROTOCOLS

ProtocolsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        help=f"One of {', '.join(sorted(PROTOCOLS))}, or your own rubric by its file or name; "
        "may be repeated. Those made for the edition's source if not given.",
    ),
]
