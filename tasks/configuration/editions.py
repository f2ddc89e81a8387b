"""Where a named edition lies."""

from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import load_editions


def edition_folder(edition: str, configs: Path = CONFIGS) -> Path:
    """The folder of an edition that `configs/editions.yaml` lists.

    Raises:
        ConfigurationError: it is not listed.
    """
    listed = load_editions(configs).editions
    if edition not in listed:
        raise ConfigurationError(
            f"{configs / 'editions.yaml'}: no edition is called {edition!r}; listed: "
            f"{', '.join(sorted(listed))}. Add an entry, or name its folder."
        )
    return configs.parent / listed[edition].path
