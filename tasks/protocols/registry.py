"""All protocols by name."""

from collections.abc import Iterable
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.extensions import list_extensions, load_extension
from tasks.configuration.models import load_protocol
from tasks.configuration.rubrics import (
    RUBRIC_SUFFIXES,
    RUBRICS_VARIABLE,
    find_rubric_file,
    list_rubric_files,
    list_rubric_names,
    load_rubric,
    register_rubric,
)
from tasks.errors import suggest_names

if TYPE_CHECKING:
    from tasks.protocols.case import Protocol


PROTOCOLS = {
    "claim_discovery": "ClaimDiscovery",
    "fact": "FactFramework",
    "race": "Race",
    "research_gym": "ResearchGym",
    "rigorous": "Rigorous",
    "rubric_bench": "RubricBench",
    "wiki_fact": "WikiFact",
    "wiki_writing": "WikiWriting",
}
"""The class of each protocol, in the module of its name."""
EXTENSIONS: Final = "evergreen.protocols"
"""The entry points of protocols that other packages bring; their settings are a file of that name
in configs/protocols. They judge only when they are named."""
DEFAULT_SOURCE = "wikipedia"
"""Editions of a source without protocols of its own are judged like this source's."""


def default_protocols(source: str) -> tuple[str, ...]:
    """Return the names of the protocols that judge an edition of this source by default."""
    editions_of = {name: load_protocol(name).editions for name in sorted(PROTOCOLS)}
    found = tuple(name for name, editions in editions_of.items() if source in editions)
    return found or tuple(
        name for name, editions in editions_of.items() if DEFAULT_SOURCE in editions
    )


def list_protocols() -> list[str]:
    """Return the names of all protocols: the built-in ones, those of other packages, and own
    rubrics."""
    return [*sorted(PROTOCOLS), *list_extensions(EXTENSIONS), *list_rubric_names()]


def get_protocol(name: str) -> "Protocol":
    """Return a protocol with the settings of its file: a built-in one or a user's rubric.

    Raises:
        ConfigurationError: the protocol is unknown or its file invalid.
    """
    if name in PROTOCOLS:
        # Imported on first use: names, titles and settings do not need it.
        create = getattr(import_module(f"tasks.protocols.{name}"), PROTOCOLS[name])
        found: Protocol = create(load_protocol(name))
        return found
    if name in list_extensions(EXTENSIONS):
        own: Protocol = load_extension(EXTENSIONS, name)(load_protocol(name))
        return own
    if file := find_rubric_file(name):
        from tasks.protocols.own_rubric import OwnRubric

        return OwnRubric(name, load_rubric(file))
    raise ConfigurationError(
        f"There is no protocol {name!r}. {suggest_names(name, list_protocols())} A rubric of your "
        "own is named by its file (--protocol PATH.yaml), or lies in "
        f"configs/rubrics.{_describe_missing_files()}"
    )


def _describe_missing_files() -> str:
    """Return a sentence, after a space, about listed rubric files that do not exist; else ""."""
    missing = [str(file) for file in list_rubric_files() if not file.is_file()]
    if not missing:
        return ""
    return f" {RUBRICS_VARIABLE} lists files that do not exist: {', '.join(missing)}."


def resolve_name(given: str) -> str:
    """Resolve a protocol as a user gives it: a name, or the file of a rubric. The file is
    remembered, so that this process and its children find the rubric by name.

    Raises:
        ConfigurationError: the file is invalid, or its name is taken by another protocol.
    """
    if Path(given).suffix not in RUBRIC_SUFFIXES:
        return given
    return register_rubric(Path(given), taken=PROTOCOLS.keys())


def available_protocols(names: Iterable[str]) -> dict[str, "Protocol"]:
    """Return the protocols whose definition is available: scores are kept even if their rubric's
    file has become invalid or is missing.

    Raises:
        ConfigurationError: the file of a built-in protocol is invalid.
    """
    found = {}
    for name in sorted({*names}):
        with nullcontext() if name in PROTOCOLS else suppress(ConfigurationError):
            found[name] = get_protocol(name)
    return found


def get_protocol_title(name: str) -> str:
    """Return the title in the protocol's file, or its name if the file is missing."""
    if name in PROTOCOLS or name in list_extensions(EXTENSIONS):
        return load_protocol(name).title
    file = find_rubric_file(name)
    return load_rubric(file).title if file else name
