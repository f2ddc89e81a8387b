"""Which judges and agents matter here: those that every run needs, those that were used, others."""

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


class Level(Enum):
    """How much depends on a judge or an agent."""

    REQUIRED = 2
    """It is the default judge, or configs/refresh.yaml asks it on a schedule."""
    USED = 1
    """The warehouse holds something that it made."""
    UNUSED = 0


@dataclass(frozen=True)
class InUse:
    """The names of judges and agents that matter."""

    required: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()

    def of(self, names: Iterable[str]) -> Level:
        """The highest level of some."""
        given = set(names)
        if given & self.required:
            return Level.REQUIRED
        return Level.USED if given & self.used else Level.UNUSED


def in_use(source: Readable | None, configs: Path = CONFIGS) -> InUse:
    """What matters, as far as configuration and warehouse (None: there is none) can be read."""
    required: set[str] = set()
    with suppress(ConfigurationError):  # the check of the configuration tells it
        required.add(load_judges(configs).default)
        settings = load_refresh(configs)
        if settings.schedule:
            required.update(settings.agents, filter(None, [settings.judge, settings.extractor]))
    used = source.frame(USED)["judge"].to_list() if source else []
    return InUse(frozenset(required), frozenset(used))
