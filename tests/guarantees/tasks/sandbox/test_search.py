"""Searching with the real model of vectors."""

from pathlib import Path

from tasks.sandbox.catalogue import PageFilter
from tests.tasks.sandbox.archives import BAKERY
from tests.tasks.sandbox.test_search import asked


def test_the_real_model_finds_a_paraphrase(tmp_path: Path) -> None:
    found = asked(
        tmp_path / "i",
        lambda index: index.search("loaves from an old family shop", 1, PageFilter()),
        ranking="dense",
    )
    assert [one.url for one in found] == [BAKERY]
