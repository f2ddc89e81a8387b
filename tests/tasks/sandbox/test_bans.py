"""What an assignment must not use."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.bans import is_on_host
from tasks.inversion.context import is_article_url
from tasks.sandbox.catalogue import Catalogue, CopyDetector, PageFilter
from tasks.sandbox.snapshot import read_assignments, read_ban
from tests.tasks.sandbox.archives import ARTICLE, WIKI, make_ban, write_snapshot


def test_an_edition_bans_what_any_of_its_assignments_does(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path / "e")
    assert read_ban(snapshot) == make_ban(["harrow"], [WIKI, "bread.example"])
    assert read_assignments(snapshot) == {"harrow", "bread"}


def test_an_article_is_banned_before_it_has_an_assignment(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path / "e")
    for table in ("assignments", "ground_truths"):
        path = snapshot / f"{table}.parquet"
        pq.write_table(pq.read_table(path)[:0], path)
    assert read_ban(snapshot) == make_ban(["harrow"], [WIKI])


COPIES = CopyDetector(
    {"harrow": ARTICLE, "other": "Nothing of it stands in any page. " * 20}, 8, 0.3
)


@pytest.mark.parametrize(
    "text",
    [
        ARTICLE,
        ARTICLE.upper().replace(" ", "\n"),
        f"{'Something else is said here first. ' * 300}{ARTICLE}",
        ARTICLE[: len(ARTICLE) // 2],
    ],
    ids=["itself", "otherwise set", "within a long page", "an excerpt"],
)
def test_a_page_that_is_largely_the_article_is_a_copy(text: str) -> None:
    assert COPIES.find_articles(text) == ["harrow"]


@pytest.mark.parametrize(
    "text", ["", "short", "Harrow Point Lighthouse was built by Oskar Lindqvist in 1874. " * 5]
)
def test_a_page_on_the_same_subject_is_none(text: str) -> None:
    assert COPIES.find_articles(text) == []


@given(st.text(max_size=500))
def test_any_text_can_be_compared(text: str) -> None:
    assert COPIES.find_articles(text) == []
    assert CopyDetector({}, 8, 0.3).find_articles(text) == []


def test_copies_by_their_address_are_banned_with_their_page_or_host() -> None:
    copies = [f"https://web.archive.org/web/2020/https://src.example/{n}" for n in (1, 2)]
    moved, free = "https://r.example/3", "https://web.archive.org/web/2020/https://free.example/1"
    catalogue = Catalogue(
        [{"url": url, "final_url": copies[0] if url == moved else None, "day": None,
          "encyclopedia": False, "copies": None, "_rowid": number}
         for number, url in enumerate([*copies, moved, free])],
        keep_undated=True,
    )  # fmt: skip
    assert catalogue.find_banned(make_ban([], ["https://src.example/1"])) == {copies[0], moved}
    assert catalogue.find_banned(make_ban([], ["src.example"])) == {*copies, moved}
    assert catalogue.find_page(free, PageFilter()) == free


def test_a_copy_of_an_encyclopedia_is_on_its_host() -> None:
    copy = "https://translate.google.com/translate?u=https://en.wikipedia.org/wiki/X"
    assert is_on_host(copy, ["wikipedia.org"])
    assert is_article_url(copy, "https://simple.wikipedia.org/wiki/X", "X", ["wikipedia.org"])
