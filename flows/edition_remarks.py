"""What a command says of an edition beside its answer: what comes next, what cannot be."""

from collections.abc import Sequence

from flows.console import remark
from tasks.chosen_protocols import go_by_pages, protocols_for, why_idle
from tasks.warehouse.store import Readable


def say_next(source: Readable, edition: str) -> None:
    """What follows when reports have come."""
    if go_by_pages(protocols_for(source, edition)):
        remark(f"Next: evergreen fetch --edition {edition}, then `evaluate`")
    else:
        remark(f"Next: evergreen evaluate --edition {edition}")


def say_idle(source: Readable, edition: str, protocols: Sequence[str]) -> None:
    """Name the protocols that can judge no report of the edition, with the reason."""
    for name in protocols:
        if reason := why_idle(source, edition, name):
            remark(f"{name} judges nothing of {edition}: {reason}.", "yellow")
