"""Parameter types shared by several flows; the Prefect UI's forms show their bounds and choices."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from tasks.agents.registry import load_agents
from tasks.configuration.models import load_judges
from tasks.judges.registry import OFFLINE
from tasks.protocols.registry import PROTOCOLS

MAX_HOURS = 24 * 365


@dataclass(frozen=True)
class NameChoices:
    """The configured names, offered as choices when the form is made. The flow validates the
    value itself, with a better message."""

    names: Callable[[], Iterable[str]]

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(core) | {"enum": sorted(self.names())}


def _list_askable_agents() -> Iterable[str]:
    return (name for name, entry in load_agents().agents.items() if entry.ask)


Hours = Annotated[float, Field(gt=0, le=MAX_HOURS)]
"""How long a run waits."""
Count = Annotated[int, Field(ge=1)]
"""How many of something; None means all."""
JudgeName = Annotated[str, NameChoices(lambda: load_judges().judges)]
"""A judge of configs/judges.yaml."""
ExtractorName = Annotated[str, NameChoices(lambda: {*load_judges().judges, OFFLINE})]
"""A judge of configs/judges.yaml whose model extracts, or `offline`."""
AskableAgent = Annotated[str, NameChoices(_list_askable_agents)]
"""An agent of configs/agents.yaml that can be asked for reports."""
ProtocolName = Annotated[str, Field(examples=sorted(PROTOCOLS))]
"""A protocol of the registry, or the file of a custom rubric: only examples, no fixed choices."""
