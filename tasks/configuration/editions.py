"""The folders of the editions in `configs/editions.yaml`."""

from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import load_editions


def find_edition_folder(edition: str, configs: Path = CONFIGS) -> Path:
    """Return the folder of an edition.

    Raises:
        ConfigurationError: `configs/editions.yaml` does not list it.
    """
    listed = load_editions(configs).editions
    if edition not in listed:
        raise ConfigurationError(
            f"{configs / 'editions.yaml'} has no edition {edition!r}; it has: "
            f"{', '.join(sorted(listed))}. Add an entry, or give its folder."
        )
    return configs.parent / listed[edition].path
