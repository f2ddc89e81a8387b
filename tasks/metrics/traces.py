"""Figures of a search: how much of what was needed was looked for, how deep, how wide.

Source: LiveDRBench's analysis of search traces; its prompts and code for them are not
published, so the definitions are this project's.
"""

from collections import Counter
from collections.abc import Sequence

from tasks.metrics.shares import share

Parents = Sequence[int | None]
"""Per step the index of the earlier step that it follows from; None where it begins anew."""


def depth(parents: Parents) -> int | None:
    """Steps on the longest chain of which each follows from the one before; None without steps.

    Raises:
        ValueError: a step follows from itself or from a later one.
    """
    lengths: list[int] = []
    for index, parent in enumerate(parents):
        if parent is not None and not 0 <= parent < index:
            raise ValueError(f"step {index} follows from step {parent}, which is not before it")
        lengths.append(1 if parent is None else lengths[parent] + 1)
    return max(lengths, default=None)


def branching(parents: Parents) -> float | None:
    """Mean number of steps that follow from a step, over the steps from which any does; None
    where none does."""
    children = Counter(parent for parent in parents if parent is not None)
    return share(children.total(), len(children))
