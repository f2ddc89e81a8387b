"""What a search finds, in which order, and what it must not."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pytest

from tasks.sandbox import search as searching
from tasks.sandbox.catalogue import Ban, NotServed, PageFilter
from tasks.sandbox.lance import CURRENT_FILE, PASSAGES, connect, read_index_version
from tasks.sandbox.page import ServedPage
from tasks.sandbox.search import SearchIndex, open_index
from tests.tasks.sandbox.archives import (
    ALL,
    BAKERY,
    COPY,
    KEEPER,
    MOVED,
    PAGES,
    TOWERS,
    WIKI,
    WRECKS,
    build,
    folder,
    make_ban,
    opened,
    page,
    settings,
)

__all__ = ["folder"]
ResultT = TypeVar("ResultT")
ANYTHING = PageFilter()


def asked(
    folder: Path, call: Callable[[SearchIndex], Coroutine[Any, Any, ResultT]], **how: Any
) -> ResultT:
    async def run() -> ResultT:
        return await call(await opened(folder, how=settings(**how)))

    return asyncio.run(run())


def hits(
    folder: Path,
    pages: Iterable[ServedPage],
    query: str,
    k: int,
    allowed: PageFilter = ANYTHING,
    **how: Any,
) -> list[str]:
    """The addresses that a search of an index of these pages finds."""
    index = asyncio.run(opened(folder / "i", pages, settings(**how)))
    return [one.url for one in asyncio.run(index.search(query, k, allowed))]


def urls(
    folder: Path, query: str, allowed: PageFilter = ANYTHING, k: int = 10, **how: Any
) -> set[str]:
    found = asked(folder, lambda index: index.search(query, k, allowed), **how)
    assert [one.rank for one in found] == list(range(1, len(found) + 1))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    return {one.url for one in found}


def test_a_page_is_found_by_its_words_and_shows_the_passage(folder: Path) -> None:
    [best, *_] = asked(folder, lambda index: index.search("Tolmen bakers", 3, PageFilter()))
    assert (best.rank, best.url, best.title) == (1, BAKERY, "Bread of Tolmen")
    assert best.snippet.startswith("The bakers of Tolmen make a dark rye bread")
    assert best.text == ""


def test_the_title_is_found_too_and_other_forms_of_a_word(folder: Path) -> None:
    assert BAKERY in urls(folder, "breads")
    assert urls(folder, "towers") >= {TOWERS}


HOSTILE = ("", " ", "the of and", "!!!", "\0", "a:b AND (c OR", "said:x^2 ~", '"', "\ufffd",
           "%s {} $1 '; DROP", "漢字", "x" * 2000, "lighthouse " * 150)  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_any_query_has_an_answer(folder: Path, query: str) -> None:
    assert urls(folder, query) <= {one.url for one in PAGES}


def test_equal_pages_come_in_the_order_of_their_addresses_however_few_are_wanted(
    tmp_path: Path,
) -> None:
    same = [page(f"https://x.example/{n:03}", "The same words on every page.") for n in range(80)]
    index = asyncio.run(opened(tmp_path / "i", same[40:] + same[:40], settings(depth=2)))
    for k in (1, 3, 50):
        found = asyncio.run(index.search("same words", k, PageFilter()))
        assert [one.url for one in found] == [one.url for one in same[:k]]


def test_of_equal_passages_of_a_page_the_first_is_shown(tmp_path: Path) -> None:
    said = " ".join(f"storm{n} seen by keepers." for n in range(50))
    pages = [page(f"https://x.example/{n:02}", said) for n in range(30)]
    asyncio.run(build(tmp_path / "i", pages[::-1], settings(passage_words=20)))
    again = [page(f"https://x.example/{n:02}", said, language="en") for n in range(0, 30, 7)]
    changed = {one.url: one for one in (*pages, *again)}.values()
    index = asyncio.run(opened(tmp_path / "i", changed, settings(passage_words=20)))
    found = asyncio.run(index.search("keepers", 30, PageFilter()))
    assert [one.url for one in found] == [one.url for one in pages]
    assert {one.snippet.split()[0] for one in found} == {"storm0"}


def test_a_page_of_many_passages_leaves_room_for_others(tmp_path: Path) -> None:
    long = page("https://x.example/long", "The lighthouse of Harrow Point stands. " * 2000)
    found = hits(tmp_path, (*PAGES, long), "lighthouse Harrow Point", 4, depth=1)
    assert len(set(found)) == 4


BANNED = PageFilter(ban=make_ban(["harrow"], [WIKI]))


def test_banned_hosts_and_pages_are_left_out_as_well(folder: Path) -> None:
    ban = make_ban([], ["bread.example", "http://www.towers.example/harrow/"])
    assert urls(folder, ALL, PageFilter(ban=ban)) == {WRECKS, KEEPER, COPY}
    assert urls(folder, ALL, PageFilter(ban=Ban())) == {TOWERS, WRECKS, KEEPER, BAKERY, COPY}


@pytest.mark.usefixtures("by_letters")
@pytest.mark.parametrize("ranking", ["bm25", "dense", "fused"])
@pytest.mark.parametrize("allowed", [ANYTHING, BANNED])
def test_passages_whose_page_is_not_there_are_not_served(
    tmp_path: Path, ranking: str, allowed: PageFilter
) -> None:
    how = settings(ranking=ranking, depth=1)

    async def found() -> list[str]:
        await build(tmp_path / "i", PAGES, how)
        passages = await (await connect(tmp_path / "i")).open_table(PASSAGES)
        said = "rye bread rye bread"
        row = {"number": 0, "said": said, "day": None, "encyclopedia": False}
        vector = letters([said])[0]
        lost = [row | {"url": f"https://lost.example/{n}", "vector": vector} for n in range(20)]
        await passages.add(pa.Table.from_pylist(lost, await passages.schema()))
        current = read_index_version(tmp_path / "i")
        assert current
        current = current.model_copy(update={"passages_version": await passages.version()})
        (tmp_path / "i" / CURRENT_FILE).write_text(current.model_dump_json())
        index = await open_index(tmp_path / "i", how)
        return [one.url for one in await index.search("rye bread", 2, allowed)]

    assert asyncio.run(found())[0] == BAKERY


OLD, NEW, SHORT = "https://old.example/p", "https://new.example/p", "https://t.example/x"
SAME = "A lighthouse under three addresses."
ONE_PAGE = (page(OLD, SAME, final_url=NEW), page(NEW, SAME), page(SHORT, SAME, final_url=NEW))


FIRST, SECOND, THIRD = (f"https://{name}.example/x" for name in "abc")
WAY = (page(FIRST, SAME, final_url=SECOND), page(SECOND, SAME, final_url=THIRD))
RING = (*WAY, page(THIRD, SAME, final_url=FIRST))


@pytest.mark.parametrize(
    ("pages", "hosts"),
    [(ONE_PAGE, ()), (WAY, ("c.example",)), (RING, ("c.example",))],
    ids=["one page", "a way", "a ring"],
)
def test_a_ban_of_a_page_holds_under_all_addresses_that_lead_to_it_or_it_leads_to(
    tmp_path: Path, pages: Sequence[ServedPage], hosts: Sequence[str]
) -> None:
    index = asyncio.run(opened(tmp_path / "i", (*PAGES, *pages)))
    addresses = {one.url for one in pages} | {one.final_url for one in pages if one.final_url}
    for banned in (*addresses, *hosts):
        allowed = PageFilter(ban=make_ban([], [banned]))
        found = asyncio.run(index.search("lighthouse addresses", 20, allowed))
        assert TOWERS in {one.url for one in found}
        assert not addresses & {one.url for one in found}, banned
        for address in addresses:
            with pytest.raises(NotServed, match="is banned by an assignment"):
                asyncio.run(index.get_page(address, allowed))


def test_so_does_a_ban_of_the_copies_of_an_article(tmp_path: Path) -> None:
    there = page("https://mirror.example/h", "Sign in to read of Harrow Point Lighthouse.")
    copy = page(COPY, PAGES[5].text, final_url=there.url)
    allowed = PageFilter(ban=make_ban(["harrow"], []))
    assert hits(tmp_path, (PAGES[0], copy, there), "lighthouse", 20, allowed) == [TOWERS]


def test_a_banned_host_does_not_ban_what_it_leads_to_elsewhere(tmp_path: Path) -> None:
    allowed = PageFilter(ban=make_ban([], ["t.example"]))
    assert hits(tmp_path, ONE_PAGE, "lighthouse", 20, allowed) == [NEW, OLD]


def test_as_of_a_day_later_pages_are_not_there(folder: Path) -> None:
    spring = PageFilter(as_of=date(2025, 3, 1))
    assert urls(folder, ALL, spring) == {TOWERS}
    assert urls(folder, ALL, PageFilter(as_of=date(2025, 11, 2))) == {TOWERS, KEEPER, WRECKS}
    assert urls(folder, ALL, PageFilter(as_of=date(2025, 2, 28))) == set()
    for later in (KEEPER, WRECKS, BAKERY):  # the last has no day
        with pytest.raises(NotServed) as refused:
            asked(folder, lambda index, url=later: index.get_page(url, spring))  # type: ignore[misc]
        assert refused.value.reason == "later"


def test_pages_without_a_day_can_be_kept(folder: Path) -> None:
    spring = PageFilter(as_of=date(2025, 3, 1))
    kept = urls(folder, ALL, spring, undated="keep")
    assert kept == {TOWERS, BAKERY, WIKI, COPY, MOVED}
    text = asked(folder, lambda index: index.get_page(BAKERY, spring), undated="keep").text
    assert text == PAGES[3].text


def test_a_page_is_fetched_by_any_spelling_of_its_address(folder: Path) -> None:
    for address in (TOWERS, "http://WWW.towers.example/harrow/?utm_source=x#top"):
        assert asked(folder, lambda index, a=address: index.get_page(a, PageFilter())).url == TOWERS  # type: ignore[misc]


def test_a_page_is_fetched_by_the_address_it_redirects_to(tmp_path: Path) -> None:
    moved = page("https://short.example/h", "It moved.", final_url="https://long.example/harrow")
    index = asyncio.run(opened(tmp_path / "i", (moved,)))
    found = asyncio.run(index.get_page("https://long.example/harrow", PageFilter()))
    assert (found.url, found.final_url) == (moved.url, moved.final_url)


@pytest.mark.parametrize(
    "address", ["", "no address", "ftp://x.example/", "https://nowhere.example/"]
)
def test_what_is_not_archived_is_said_to_be(folder: Path, address: str) -> None:
    with pytest.raises(NotServed, match="is not in the archive"):
        asked(folder, lambda index: index.get_page(address, PageFilter()))


def letters(texts: Sequence[str]) -> Any:
    """A vector of how often each letter stands in a text: enough of a meaning for a test."""
    counts = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts])
    wide = np.zeros((len(texts), 384), dtype=np.float32)
    wide[:, :26] = counts
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def by_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model replaced by counting letters: what is tested is the search, not the model."""
    monkeypatch.setattr("tasks.sandbox.index.embed", letters)
    monkeypatch.setattr(searching, "embed", letters)


@pytest.mark.usefixtures("by_letters")
def test_vectors_find_what_words_do_not_and_both_are_fused(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    anagram = "Lemnot bredas fo eyr"
    assert urls(tmp_path / "words", anagram) == set()
    found = asked(folder, lambda index: index.search(anagram, 7, PageFilter()), ranking="dense")
    assert len(found) == 7
    assert all(-1e-6 <= one.score <= 1 + 1e-6 for one in found)
    fused = asked(folder, lambda index: index.search("rye bread", 7, BANNED), ranking="fused")
    assert {one.url for one in fused} == {TOWERS, WRECKS, KEEPER, BAKERY}
    assert fused[0].score <= 2 / 61 + 1e-6


@pytest.mark.usefixtures("by_letters")
def test_many_passages_get_an_approximate_index_that_agrees_with_the_exact_search(
    tmp_path: Path,
) -> None:
    many = [page(f"https://x.example/{n}", chr(97 + n % 26) * (n % 40 + 2)) for n in range(300)]

    dense = partial(hits, pages=many, query="aaab", k=5, ranking="dense")
    assert dense(tmp_path / "exact") == dense(tmp_path / "approximate", approximate_from=256)
