"""Every protocol there is, by name."""

from collections.abc import Callable

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.models import ProtocolEntry, load_protocol
from tasks.protocols.case import Protocol
from tasks.protocols.claim_discovery import ClaimDiscovery
from tasks.protocols.wiki_fact import WikiFact
from tasks.protocols.wiki_writing import WikiWriting

PROTOCOLS: dict[str, Callable[[ProtocolEntry], Protocol]] = {
    "claim_discovery": ClaimDiscovery,
    "wiki_fact": WikiFact,
    "wiki_writing": WikiWriting,
}


def protocol(name: str) -> Protocol:
    """The protocol `name` with the settings of its file.

    Raises:
        ConfigurationError: unknown, or its file is wrong.
    """
    if name not in PROTOCOLS:
        raise ConfigurationError(
            f"Unknown protocol {name!r}; known: {', '.join(sorted(PROTOCOLS))}."
        )
    return PROTOCOLS[name](load_protocol(name))
