"""All protocols by name."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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
    from tasks.protocols.declarations import Board


PROTOCOLS = {
    "wiki_fact": "wiki_fact.protocol:WikiFact",
    "wiki_writing": "wiki_writing:WikiWriting",
    "claim_discovery": "claim_discovery.protocol:ClaimDiscovery",
    "research_gym": "research_gym.protocol:ResearchGym",
    "rubric_bench": "rubric_bench:RubricBench",
    "rigorous": "rigorous.protocol:Rigorous",
    "race": "race:Race",
    "fact": "fact:FactFramework",
}
"""The module and class of each protocol, in the order of their boards. All else that is said of a
protocol stands in its file of configs/protocols, or is an attribute of its class
(`case.Protocol`)."""
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
        found: Protocol = _load_class(name)(load_protocol(name))
        return found
    if name in list_extensions(EXTENSIONS):
        return _complete(load_extension(EXTENSIONS, name)(load_protocol(name)))
    if file := find_rubric_file(name):
        from tasks.protocols.own_rubric import OwnRubric

        return OwnRubric(name, load_rubric(file))
    raise ConfigurationError(
        f"There is no protocol {name!r}. {suggest_names(name, list_protocols())} A rubric of your "
        "own is named by its file (--protocol PATH.yaml), or lies in "
        f"configs/rubrics.{_describe_missing_files()}"
    )


def _load_class(name: str) -> type[Any]:
    # Imported on first use: names, titles and settings do not need it.
    module, _, class_name = PROTOCOLS[name].partition(":")
    found: type[Any] = getattr(import_module(f"tasks.protocols.{module}"), class_name)
    return found


def _complete(own: Any) -> "Protocol":
    """Give a protocol of another package what it may leave out."""
    from tasks.protocols.case import OPTIONAL, Protocol

    for attribute in OPTIONAL:
        if not hasattr(own, attribute):
            setattr(own, attribute, getattr(Protocol, attribute))
    found: Protocol = own
    return found


@cache
def list_boards() -> "tuple[Board, ...]":
    """Return the boards of all built-in protocols, in the order of PROTOCOLS."""
    return tuple(board for name in PROTOCOLS for board in _load_class(name).boards)


def find_boards(names: Collection[str]) -> "list[Board]":
    """Return the boards that show any of these protocols, in their order; last those of protocols
    of other packages."""
    others = available_protocols({*names} & {*list_extensions(EXTENSIONS)})
    boards = [*list_boards(), *(board for own in others.values() for board in own.boards)]
    return [board for board in boards if board.protocols & {*names}]


@cache
def list_claim_marking() -> Mapping[str, str]:
    """Return the built-in protocols whose verdicts mark claims, the first to mark one first, each
    with what they judge (`Protocol.marks_claims`)."""
    marks = {name: _load_class(name).marks_claims for name in PROTOCOLS}
    return {name: judged for name, judged in marks.items() if judged}


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
