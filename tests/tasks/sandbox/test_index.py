"""Building the index: only what changed, whole or not at all, the same by whatever way."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tasks.sandbox import index as indexing
from tasks.sandbox.catalogue import PageFilter
from tasks.sandbox.page import SandboxError, ServedPage
from tasks.sandbox.search import open_index
from tests.tasks.sandbox.archives import BAKERY, PAGES, build, opened, page, settings

QUERIES = ("lighthouse Harrow Point", "Maren Dahl keeper", "rye bread", "the Calliope of 1872")


def test_a_second_build_does_nothing(tmp_path: Path) -> None:
    first = asyncio.run(build(tmp_path / "i"))
    again = asyncio.run(build(tmp_path / "i"))
    assert (first.n_changed, first.n_removed, first.version.n_pages) == (7, 0, 7)
    assert (again.n_changed, again.n_removed, again.version) == (0, 0, first.version)


def test_only_what_is_new_changed_or_gone_is_touched(tmp_path: Path) -> None:
    asyncio.run(build(tmp_path / "i", PAGES[:5]))
    changed = PAGES[0].model_copy(update={"text": "The tower of Harrow Point is a museum now."})
    built = asyncio.run(build(tmp_path / "i", (changed, *PAGES[2:])))
    assert (built.n_changed, built.n_removed, built.version.n_pages) == (3, 1, 6)

    async def found() -> list[str]:
        index = await open_index(tmp_path / "i", settings())
        return [hit.snippet for hit in await index.search("museum", 5, PageFilter())]

    assert asyncio.run(found())[0] == changed.text


async def rankings(folder: Path) -> list[list[tuple[str, float, str]]]:
    index = await open_index(folder, settings())
    return [
        [(hit.url, hit.score, hit.snippet) for hit in await index.search(query, 5, PageFilter())]
        for query in QUERIES
    ]


def test_results_and_scores_do_not_depend_on_how_the_index_came_to_be(tmp_path: Path) -> None:
    at_once, by_parts = tmp_path / "one", tmp_path / "two"
    others = [
        page(f"https://x.example/{n}", f"A lighthouse of 1872, number {n}.") for n in range(300)
    ]
    asyncio.run(build(at_once, (*PAGES, *others[:290])))
    asyncio.run(build(by_parts, (*others, *PAGES)))
    few_gone = asyncio.run(build(by_parts, (*PAGES[::-1], *others[:290])))
    assert (few_gone.n_changed, few_gone.n_removed) == (0, 10)
    assert asyncio.run(rankings(at_once)) == asyncio.run(rankings(by_parts))
    added = tmp_path / "three"
    asyncio.run(build(added, (*others[100:290], *PAGES[4:])))
    asyncio.run(build(added, (*others[:290], *PAGES[::-1][:5])))
    asyncio.run(build(added, (*PAGES[::-1], *others[:290])))
    assert asyncio.run(rankings(at_once)) == asyncio.run(rankings(added))
    assert all(asyncio.run(rankings(at_once)))


def test_the_first_page_of_an_address_counts(tmp_path: Path) -> None:
    twice = (page("https://x.example/p", "First."), page("https://x.example/p", "Second."))
    index = asyncio.run(opened(tmp_path / "i", twice))
    assert asyncio.run(index.get_page("https://x.example/p", PageFilter())).text == "First."


def test_an_open_index_says_what_it_said_while_it_is_built_anew(tmp_path: Path) -> None:
    async def told() -> tuple[list[str], list[str], str]:
        index = await opened(tmp_path / "i")
        before = [hit.url for hit in await index.search("rye bread", 5, PageFilter())]
        await build(tmp_path / "i", PAGES[:2])
        after = [hit.url for hit in await index.search("rye bread", 5, PageFilter())]
        return before, after, (await index.get_page(BAKERY, PageFilter())).text

    before, after, text = asyncio.run(told())
    assert before[0] == BAKERY
    assert before == after
    assert text == PAGES[3].text


STAYS, LEAVES = page("https://a.example/1", "granite"), page("https://b.example/2", "granite wall")


@pytest.mark.parametrize(
    ("earlier", "killed", "amid"),
    [([STAYS], [STAYS, LEAVES], "page_schema"), ([STAYS, LEAVES], [STAYS], "sql_in")],
    ids=["while it is added", "while it is taken out"],
)
def test_of_a_page_that_leaves_after_a_kill_amid_its_change_no_passage_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    earlier: list[ServedPage],
    killed: list[ServedPage],
    amid: str,
) -> None:
    asyncio.run(build(tmp_path / "i", earlier))
    asked, real = 0, getattr(indexing, amid)

    def killing(*given: Any) -> Any:  # the second time is between the two tables
        nonlocal asked
        asked += 1
        if asked == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(indexing, amid, killing)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(build(tmp_path / "i", killed))
    monkeypatch.undo()
    built = asyncio.run(build(tmp_path / "i", [STAYS]))
    assert (built.n_changed, built.version.n_pages, built.version.n_passages) == (0, 1, 1)
    again = asyncio.run(build(tmp_path / "i", [STAYS]))
    assert again.version == built.version


def test_an_address_may_hold_a_quotation_mark(tmp_path: Path) -> None:
    one = page("https://x.example/o'brien'%20OR%20'1'='1", "A lighthouse.")
    asyncio.run(build(tmp_path / "i", (*PAGES, one)))
    built = asyncio.run(build(tmp_path / "i", (*PAGES, one.model_copy(update={"title": "New"}))))
    assert (built.n_changed, built.version.n_pages, built.version.n_passages) == (1, 8, 8)
    assert asyncio.run(build(tmp_path / "i")).n_removed == 1


def test_an_archive_without_pages_is_an_index_that_finds_nothing(tmp_path: Path) -> None:
    index = asyncio.run(opened(tmp_path / "i", ()))
    assert asyncio.run(index.search("lighthouse", 5, PageFilter())) == []
    asyncio.run(build(tmp_path / "i", PAGES[:1]))
    assert asyncio.run(rankings(tmp_path / "i"))[0]


def test_a_damaged_index_says_what_to_do(tmp_path: Path) -> None:
    asyncio.run(build(tmp_path / "i"))
    current = json.loads((tmp_path / "i" / "current.json").read_text())
    (tmp_path / "i" / "current.json").write_text(json.dumps(current | {"pages_version": 999}))
    with pytest.raises(SandboxError, match="Delete the folder; it is rebuilt"):
        asyncio.run(open_index(tmp_path / "i", settings()))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SandboxError, match="the index could not be written"):
        asyncio.run(build(tmp_path / "file" / "i"))
