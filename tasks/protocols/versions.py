"""A protocol's version: its number and the sha of its settings."""

from typing import TypeVar

from pydantic import ValidationError

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.warehouse.rows import content_sha

ParametersT = TypeVar("ParametersT", bound=ConfigModel)


def parse_parameters(entry: ProtocolEntry, model: type[ParametersT]) -> ParametersT:
    """Parse the `parameters` of a protocol's file as its own model.

    Raises:
        ConfigurationError: they are invalid; names file, key and what was expected.
    """
    try:
        return model.model_validate(entry.parameters)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(["parameters", *(str(part) for part in problem["loc"])])
        raise ConfigurationError(
            f"configs/protocols/{entry.name}.yaml: `{key}`: {problem['msg']}; "
            f"found {str(problem['input'])[:80]!r}."
        ) from None


def build_version(entry: ProtocolEntry, *settings: str) -> str:
    """Build a version such as `1-3fa85f64`, which changes with the number and with any setting."""
    return f"{entry.version}-{content_sha(*settings)[:8]}"
