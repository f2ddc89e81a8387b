"""Accepted sources: the archived reference pages that hold a claim, else all references."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tasks.inversion.draft import find_sources_rule
from tasks.inversion.rows import Inversion, build_truth_row
from tasks.warehouse.truths import TruthSettings
from tests.tasks.inversion.scripted import (
    DIED,
    NAMED,
    PAGE,
    SOURCE,
    ScriptedInverter,
    bench,
    drafted,
)

A, B = "https://a.example.org/x", "https://b.example.org/y"


def of(archived: Sequence[tuple[str, str]], references: Sequence[str]) -> tuple[object, ...]:
    """Sources of the answer and of its sub-claim, and the rule that is recorded."""
    inverter = ScriptedInverter()
    around = bench(inverter, archived=archived, references=references).surroundings
    (truth,) = drafted(inverter, archived=archived, references=references).truths
    return truth.sources, truth.sub_claims[0].sources, find_sources_rule((truth,), around)


HOLDS_NAME = f"{PAGE} {NAMED}"
HOLDS_DEATH = f"{PAGE} {DIED}"


@pytest.mark.parametrize(
    ("archived", "references", "expected"),
    [
        ([], [], ((), (), "none")),
        ([], [A, B], ((A, B), (A, B), "article")),
        ([(A, HOLDS_NAME), (B, HOLDS_DEATH)], [A, B], ((A,), (B,), "pages")),
        ([(A, HOLDS_NAME)], [A, B], ((A,), (A, B), "mixed")),
        ([(A, f"{PAGE} {DIED.replace('1891', 'May')}")], [A, B], ((A, B), (A, B), "article")),
        ([(A, HOLDS_NAME)], [B], ((B,), (B,), "article")),
        ([(A, f"{PAGE} Marguerite Oakeshott")], [A, B], ((A, B), (A, B), "article")),
    ],
    ids=["no references", "nothing archived", "each on a page", "one on a page",
         "without the value", "on a page that is no reference", "the name without its sentence"],
)  # fmt: skip
def test_sources_are_those_that_hold_the_claim_where_that_is_known(
    archived: list[tuple[str, str]], references: list[str], expected: tuple[object, ...]
) -> None:
    assert of(archived, references) == expected


def test_an_article_without_an_address_bans_no_empty_one() -> None:
    inverter = ScriptedInverter()
    named = {"text_sha": "t", "judge": "j", "model_version": "m", "prompt_sha": "p",
             "settings_sha": "s"}  # fmt: skip
    inversion = Inversion(edition="e", article="a", seed=1, **named)
    for url in ("", SOURCE.url):
        source = replace(SOURCE, url=url)
        draft = drafted(inverter, source=source)
        row = build_truth_row(inversion, 1, draft, bench(inverter, source=source))
        banned = TruthSettings.model_validate_json(row.settings).banned
        assert (SOURCE.url in banned, "" in banned) == (bool(url), False)
