"""Answers as hostile as JSON can be: anything at any place."""

import copy
import json
from typing import Any

from hypothesis import strategies as st

NUMBERS = st.integers() | st.sampled_from([2**63, -1, 10**400, True]) | st.floats()
TEXTS = st.text(max_size=8) | st.sampled_from(["\ud800", "completed", "COMPLETED", "failed", "é"])
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside another."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [p for name, child in inner for p in [(*path, name), *places(child, (*path, name))]]


def damaged(body: Any) -> st.SearchStrategy[str]:
    """The JSON of `body` with up to four of its values replaced by anything, or left out."""
    paths = st.sampled_from(places(body))
    changes = st.lists(st.tuples(paths, ANYTHING, st.booleans()), min_size=1, max_size=4)
    return changes.map(lambda chosen: _changed(body, chosen))


def _changed(body: Any, changes: list[tuple[tuple[Any, ...], Any, bool]]) -> str:
    whole = copy.deepcopy(body)
    for path, value, leave_out in changes:
        inside = whole
        try:
            for name in path[:-1]:
                inside = inside[name]
            if leave_out:
                del inside[path[-1]]
            else:
                inside[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    return json.dumps(whole)
