"""Parameters that several flows have: their bounds, and what may be chosen, stand in the forms of
the Prefect UI."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from tasks.configuration.agents import load_agents
from tasks.configuration.models import load_judges
from tasks.protocols.registry import PROTOCOLS

MOST_HOURS = 24 * 365


@dataclass(frozen=True)
class OneOf:
    """Names as the configuration has them when the form is made. What is given is checked by the
    flow, whose message says more."""

    names: Callable[[], Iterable[str]]

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(core) | {"enum": sorted(self.names())}


def _askable() -> Iterable[str]:
    return (name for name, entry in load_agents().agents.items() if entry.ask)


Usd = Annotated[float, Field(ge=0)]
"""What a run may spend."""
Hours = Annotated[float, Field(gt=0, le=MOST_HOURS)]
"""How long a run waits."""
Count = Annotated[int, Field(ge=1)]
"""How many of something; all of them are None."""
JudgeName = Annotated[str, OneOf(lambda: load_judges().judges)]
"""Of configs/judges.yaml."""
AskedAgent = Annotated[str, OneOf(_askable)]
"""Of configs/agents.yaml, such as can be asked for reports."""
ProtocolName = Annotated[str, Field(examples=sorted(PROTOCOLS))]
"""Of the registry, or a rubric of one's own by its file: that has no list."""
