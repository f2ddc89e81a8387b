"""How much depends on each judge and agent: required by every run, used before, or unused."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import load_judges
from tasks.configuration.refresh import load_refresh
from tasks.warehouse.store import Readable

USED = """
SELECT DISTINCT judge FROM cells UNION SELECT DISTINCT judge FROM calls
UNION SELECT DISTINCT agent FROM jobs
"""


class Relevance(Enum):
    """How much depends on a judge or an agent."""

    REQUIRED = 2
    """The default judge, or scheduled in configs/refresh.yaml."""
    USED = 1
    """The warehouse holds some of its results."""
    UNUSED = 0


@dataclass(frozen=True)
class NamesInUse:
    """The names of the judges and agents that are required or were used."""

    required: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()

    def relevance_of(self, names: Iterable[str]) -> Relevance:
        """Return the highest relevance among some names."""
        given = set(names)
        if given & self.required:
            return Relevance.REQUIRED
        return Relevance.USED if given & self.used else Relevance.UNUSED


def find_names_in_use(source: Readable | None, configs: Path = CONFIGS) -> NamesInUse:
    """Find the names in the configuration and the warehouse (None: there is none), as far as
    these can be read."""
    required: set[str] = set()
    with suppress(ConfigurationError):  # check_configuration reports it
        required.add(load_judges(configs).default)
        settings = load_refresh(configs)
        if settings.schedule:
            required.update(settings.agents, filter(None, [settings.judge, settings.extractor]))
    used = source.frame(USED)["judge"].to_list() if source else []
    return NamesInUse(frozenset(required), frozenset(used))
