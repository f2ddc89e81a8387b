"""Judges by name, as `configs/judges.yaml` sets them."""

from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import load_judges
from tasks.judges.decisions import Judge
from tasks.judges.offline import OfflineJudge


def judge(name: str | None = None, configs: Path = CONFIGS) -> Judge:
    """The judge `name`, or the default one.

    Raises:
        ConfigurationError: unknown, naming those that are known.
    """
    known = load_judges(configs)
    wanted = name or known.default
    if wanted not in known.judges:
        raise ConfigurationError(
            f"{configs / 'judges.yaml'}: no judge is called {wanted!r}; known: "
            f"{', '.join(sorted(known.judges))}. Choose one, or add an entry."
        )
    return OfflineJudge(configs / known.judges[wanted].weights)
