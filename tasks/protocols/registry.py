"""Every protocol there is, by name."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.models import ProtocolEntry, load_protocol
from tasks.configuration.rubrics import (
    FILES,
    RUBRIC_SUFFIXES,
    listed_files,
    load_rubric,
    remember,
    rubric_file,
)

if TYPE_CHECKING:
    from tasks.protocols.case import Protocol


def _later(name: str, of: str) -> Callable[[ProtocolEntry], "Protocol"]:
    """What makes a protocol: the class `of` in the module that is called as it is. Who only looks
    at names, titles and settings loads none."""

    def made(entry: ProtocolEntry) -> "Protocol":
        found: Protocol = getattr(import_module(f"tasks.protocols.{name}"), of)(entry)
        return found

    return made


PROTOCOLS = {
    name: _later(name, of)
    for name, of in {
        "claim_discovery": "ClaimDiscovery",
        "fact": "Fact",
        "race": "Race",
        "research_gym": "ResearchGym",
        "rigorous": "Rigorous",
        "rubric_bench": "RubricBench",
        "wiki_fact": "WikiFact",
        "wiki_writing": "WikiWriting",
    }.items()
}
HOME = "wikipedia"
"""An edition from anywhere else is judged as one of ours."""


def by_default(source: str) -> tuple[str, ...]:
    """The protocols that judge an edition of this source where none is named, by name."""
    homes = {name: load_protocol(name).editions for name in sorted(PROTOCOLS)}
    found = tuple(name for name, editions in homes.items() if source in editions)
    return found or tuple(name for name, editions in homes.items() if HOME in editions)


def protocol(name: str) -> "Protocol":
    """The protocol `name` with the settings of its file: a built-in one, or one's own rubric.

    Raises:
        ConfigurationError: unknown, or its file is wrong.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name](load_protocol(name))
    if file := rubric_file(name):
        from tasks.protocols.own_rubric import OwnRubric

        return OwnRubric(name, load_rubric(file))
    raise ConfigurationError(
        f"Unknown protocol {name!r}; known: {', '.join(sorted(PROTOCOLS))}. A rubric of your own "
        f"is named by its file (--protocol PATH.yaml), or lies in configs/rubrics.{_not_there()}"
    )


def _not_there() -> str:
    """What is wrong with the list of rubrics' files, after a blank; nothing if all are there."""
    gone = [str(file) for file in listed_files() if not file.is_file()]
    return f" {FILES} lists what is no file: {', '.join(gone)}." if gone else ""


def named(given: str) -> str:
    """The name of a protocol as a user gives it: its name, or the file of a rubric, which is from
    now on found by its name, here and in the processes that this one starts.

    Raises:
        ConfigurationError: the file is wrong, or its name is another protocol's.
    """
    if Path(given).suffix not in RUBRIC_SUFFIXES:
        return given
    return remember(Path(given), taken=PROTOCOLS.keys())


def at_hand(names: Iterable[str]) -> dict[str, "Protocol"]:
    """Those of the protocols whose definition is there: a rubric's file may be gone, or wrong by
    now, while its scores are kept.

    Raises:
        ConfigurationError: the file of a built-in one is wrong.
    """
    found = {}
    for name in sorted({*names}):
        with nullcontext() if name in PROTOCOLS else suppress(ConfigurationError):
            found[name] = protocol(name)
    return found


def title_of(name: str) -> str:
    """What a protocol is called in its file; its name where that is not at hand."""
    if name in PROTOCOLS:
        return load_protocol(name).title
    file = rubric_file(name)
    return load_rubric(file).title if file else name
