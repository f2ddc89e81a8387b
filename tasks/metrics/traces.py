"""Depth and branching of a search trace.

Source: LiveDRBench's analysis of search traces. Its prompts and code for them are not published,
so the definitions are this project's.
"""

from collections import Counter
from collections.abc import Sequence

from tasks.metrics.ratios import share

Parents = Sequence[int | None]
"""For each step the index of the earlier step that it follows from; None for a new start."""


def search_depth(parents: Parents) -> int | None:
    """Return the length, in steps, of the longest chain; None without steps.

    Raises:
        ValueError: a step follows from itself or from a later one.
    """
    lengths: list[int] = []
    for index, parent in enumerate(parents):
        if parent is not None and not 0 <= parent < index:
            raise ValueError(f"step {index} follows from step {parent}, which is not before it")
        lengths.append(1 if parent is None else lengths[parent] + 1)
    return max(lengths, default=None)


def search_branching(parents: Parents) -> float | None:
    """Return the mean number of children of the steps that have any; None if no step has."""
    children = Counter(parent for parent in parents if parent is not None)
    return share(children.total(), len(children))
