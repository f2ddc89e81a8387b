"""A protocol's version: its number and the sha of its settings."""

from pathlib import Path
from typing import TypeVar

from tasks.configuration.loading import ConfigModel, validate_config
from tasks.configuration.models import ProtocolEntry
from tasks.warehouse.rows import content_sha

ParametersT = TypeVar("ParametersT", bound=ConfigModel)


def parse_parameters(entry: ProtocolEntry, model: type[ParametersT]) -> ParametersT:
    """Parse the `parameters` of a protocol's file as its own model.

    Raises:
        ConfigurationError: they are invalid; names file, key and what was expected.
    """
    file = Path("configs/protocols") / f"{entry.name}.yaml"
    return validate_config(file, entry.parameters, model, "parameters")


def build_version(entry: ProtocolEntry, *settings: str) -> str:
    """Build a version such as `1-3fa85f64`, which changes with the number and with any setting."""
    return f"{entry.version}-{content_sha(*settings)[:8]}"
