"""Which protocols an edition is judged by."""

from collections.abc import Sequence

from tasks.protocols.registry import by_default, named, protocol
from tasks.warehouse.store import Readable


def protocols_for(source: Readable, edition: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The protocols that were named, or those that judge an edition of its source.

    given: names, or files of one's own rubrics.

    Raises:
        ConfigurationError: such a file is wrong.
    """
    if given:
        return tuple(dict.fromkeys(map(named, given)))
    found = source.frame("SELECT source FROM editions WHERE edition = $1", [edition])["source"]
    return by_default(found[0] if len(found) else "")


def go_by_pages(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols looks at the cited pages."""
    return any({"pages", "claim_pages"} & set(protocol(name).inputs) for name in protocols)
