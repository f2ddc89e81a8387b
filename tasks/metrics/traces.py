"""Shape of a search trace: depth, branching, returns to an earlier branch, repeated queries.

Source: LiveDRBench's analysis of search traces. Its prompts and code for them are not published,
so the definitions are this project's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from tasks.metrics.integrated_score import normalise_text
from tasks.metrics.ratios import share

Parents = Sequence[int | None]
"""For each step the index of the earlier step that it follows from; None for a new start."""


def search_depth(parents: Parents) -> int | None:
    """Return the length, in steps, of the longest chain; None without steps.

    Raises:
        ValueError: a step follows from itself or from a later one.
    """
    _check_order(parents)
    lengths: list[int] = []
    for parent in parents:
        lengths.append(1 if parent is None else lengths[parent] + 1)
    return max(lengths, default=None)


def search_branching(parents: Parents) -> float | None:
    """Return the mean number of children of the steps that have any; None if no step has."""
    children = Counter(parent for parent in parents if parent is not None)
    return share(children.total(), len(children))


def count_returns(parents: Parents) -> int:
    """Count the steps that return to an earlier branch: they follow from a step that is neither
    the one just before nor one of those which led to it.

    Another step from the same start is no return, as the branch was not left for another one.

    Raises:
        ValueError: a step follows from itself or from a later one.
    """
    _check_order(parents)
    sizes = [1] * len(parents)
    for index in range(len(parents) - 1, -1, -1):
        if (parent := parents[index]) is not None:
            sizes[parent] += sizes[index]
    # Numbers all steps depth first, so that what a step led to is one run of numbers.
    numbers: list[int] = []
    following: list[int] = []
    next_start = 0
    for index, parent in enumerate(parents):
        if parent is None:
            number, next_start = next_start, next_start + sizes[index]
        else:
            number = following[parent]
            following[parent] += sizes[index]
        numbers.append(number)
        following.append(number + 1)
    return sum(
        not numbers[parent] <= numbers[index - 1] < numbers[parent] + sizes[parent]
        for index, parent in enumerate(parents)
        if parent is not None
    )


def count_repeated(queries: Iterable[str]) -> int:
    """Count the queries that were made before, apart from case, white space and the like."""
    every = [normalise_text(query) for query in queries]
    return len(every) - len({*every})


def _check_order(parents: Parents) -> None:
    for index, parent in enumerate(parents):
        if parent is not None and not 0 <= parent < index:
            raise ValueError(f"step {index} follows from step {parent}, which is not before it")
