"""A protocol's version: its number and the sha of what it is set to."""

from typing import TypeVar

from pydantic import ValidationError

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.warehouse.rows import content_sha

ParametersT = TypeVar("ParametersT", bound=Configured)


def checked_parameters(entry: ProtocolEntry, model: type[ParametersT]) -> ParametersT:
    """The `parameters` of a protocol's file as its own model.

    Raises:
        ConfigurationError: naming file, key and what was expected.
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


def version_of(entry: ProtocolEntry, *settings: str) -> str:
    """E.g. `1-3fa85f64`: changes when the number or any setting does."""
    return f"{entry.version}-{content_sha(*settings)[:8]}"
