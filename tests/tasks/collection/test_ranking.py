"""The choice by each formula of `candidate_ranking`."""

import pytest

from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection
from tasks.warehouse.writer import Change
from tests.tasks.collection.test_listing import NOW, begun

CATEGORIES = ("unknown", "unknown", "History", "Music", "History")
"""Of candidates from the best to the worst."""


@pytest.mark.parametrize(
    ("formula", "spread", "order"),
    [
        ("1", True, [1, 3, 4, 2, 5]),
        ("2", True, [3, 4, 5, 1, 2]),
        ("2", False, [1, 2, 3, 4, 5]),
    ],
)
def test_what_is_of_unknown_category_takes_turns_by_the_first_formula_only(
    warehouse: Warehouse, formula: str, spread: bool, order: list[int]
) -> None:
    collection = begun(warehouse, spread=spread)
    assert collection.formula_version == "2"
    earlier = collection.model_copy(update={"formula_version": formula})
    candidates = [
        Candidate(
            edition="2026-11", page_id=page_id, title=f"Mill {page_id}", listed_at=NOW,
            revision_id=page_id, bytes=100, reference_urls=10 - page_id, headings=3,
            category=category,
        )
        for page_id, category in enumerate(CATEGORIES, start=1)
    ]  # fmt: skip
    warehouse.write(Change(Collection, [earlier]), Change(Candidate, candidates))
    ranked = warehouse.frame("SELECT page_id FROM candidate_ranking ORDER BY place")
    assert ranked["page_id"].to_list() == order
