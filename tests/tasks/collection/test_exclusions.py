"""An article is in one edition only: what others have is left out, and named."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.collection.exclusions import exclude_newly_frozen
from tasks.collection.freeze import explain_too_few, freeze_edition
from tasks.collection.listing import count_choice, list_members
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.collection.wiki import connect_wiki
from tasks.configuration.wikipedia import ExcludedManifest
from tasks.warehouse.rows import Article, Edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection, ExcludedArticle
from tasks.warehouse.writer import Change
from tests.servers.http import Request, Response, json_response
from tests.servers.serving import serving
from tests.tasks.collection.test_listing import NOW, SETTINGS
from tests.tasks.wikipedia.conftest import OPERATOR, SimulatedClock

GOOD = {1: "Mill", 2: "Weir", 3: "Lock", 4: "Sluice"}
"""The wiki's good articles by page id."""
REDIRECTS = {"The old mill": "Mill"}
CREATED = datetime(2026, 9, 1, tzinfo=UTC)


def answer(request: Request) -> Response:
    """The category, and what titles lead to."""
    asked = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    if asked.get("list") == "categorymembers":
        members = [
            {"pageid": page, "title": title, "timestamp": "2026-10-01T00:00:00Z"}
            for page, title in GOOD.items()
        ]
        return json_response({"query": {"categorymembers": members}})
    titles = asked["titles"].split("|")
    ids = {title: page for page, title in GOOD.items()}
    led = {title: REDIRECTS.get(title, title) for title in titles}
    pages = [{"title": t, "pageid": ids[t]} if t in ids else {"title": t, "missing": True}
             for t in led.values()]  # fmt: skip
    redirects = [{"from": one, "to": other} for one, other in led.items() if one != other]
    return json_response({"query": {"pages": pages, "redirects": redirects}})


@pytest.fixture
def api() -> Iterator[str]:
    with serving(answer) as address:
        yield f"{address}/w/api.php"


def begun(warehouse: Warehouse, api: str, edition: str = "2026-11", **asked: Any) -> Collection:
    request = CollectionRequest(edition=edition, articles=2, api_url=api, **asked)
    return begin_collection(warehouse, request, SETTINGS, NOW)


def listed(warehouse: Warehouse, collection: Collection, **settings: Any) -> Collection:
    """The collection once the wiki is listed."""

    async def run() -> None:
        configured = SETTINGS.model_copy(update={"operator": OPERATOR, **settings})
        async with connect_wiki(
            configured, collection.api_url, clock=SimulatedClock()
        ) as connected:
            await list_members(connected, warehouse, collection)

    asyncio.run(run())
    return warehouse.rows(Collection, "edition = $1", [collection.edition])[0]


def left_out(warehouse: Warehouse, edition: str = "2026-11") -> list[str]:
    condition = "edition = $1 AND decision = 'in_other_edition'"
    return [candidate.title for candidate in warehouse.rows(Candidate, condition, [edition])]


def frozen(warehouse: Warehouse, api: str, edition: str, *pages: int, **asked: Any) -> Collection:
    """An edition of these pages, as if they had been fetched."""
    collection = listed(warehouse, begun(warehouse, api, edition, **asked))
    measured = [
        candidate.model_copy(update={
            "created_at": CREATED, "revision_id": candidate.page_id, "bytes": 100,
            "reference_urls": 9 if candidate.page_id in pages else 1, "headings": 3,
            "category": "History",
        })
        for candidate in warehouse.rows(Candidate, "edition = $1", [edition])
    ]  # fmt: skip
    articles = [
        Article(edition=edition, article=GOOD[page], title=GOOD[page], page_id=page, text="t",
                url=f"{api.removesuffix('w/api.php')}wiki/{GOOD[page]}", text_sha="t")
        for page in pages
    ]  # fmt: skip
    warehouse.write(Change(Candidate, measured), Change(Article, articles))
    return freeze_edition(warehouse, collection)


def imported(warehouse: Warehouse, url: str, title: str) -> None:
    warehouse.write(
        Change(Edition, [Edition(edition="published", source="wlc")]),
        Change(Article, [Article(edition="published", article="a", title=title, url=url,
                                 text="t", text_sha="t")]),
    )  # fmt: skip


def test_what_a_frozen_edition_has_is_left_out_by_page_id(warehouse: Warehouse, api: str) -> None:
    earlier = frozen(warehouse, api, "2026-10", 1, 2, until=datetime(2026, 10, 21, tzinfo=UTC))
    collection = listed(warehouse, begun(warehouse, api))
    assert left_out(warehouse) == ["Mill", "Weir"]
    assert collection.last_until == earlier.created_until
    [row, _] = warehouse.rows(ExcludedArticle, "edition = '2026-11'")
    assert (row.origin, row.origin_sha, row.page_id) == ("2026-10", earlier.manifest_sha, 1)


def test_an_imported_article_is_found_by_its_title_through_redirects(
    warehouse: Warehouse, api: str
) -> None:
    imported(warehouse, f"{api.removesuffix('w/api.php')}wiki/The_old_mill", "The old mill")
    listed(warehouse, begun(warehouse, api))
    assert left_out(warehouse) == ["Mill"]


@pytest.mark.parametrize(
    ("page", "title", "expected"),
    [
        (77, "Mill", ["Mill"]),  # made anew under its title
        (77, "The old mill", ["Mill"]),  # merged into another
        (2, "Mill", ["Weir"]),  # moved; another has its title
        (77, "Nobody's mill", []),
    ],
)
def test_a_page_that_is_no_candidate_is_found_by_its_title(
    warehouse: Warehouse, api: str, page: int, title: str, expected: list[str]
) -> None:
    frozen(warehouse, api, "2026-10", 3)
    warehouse.write(Change(Article, [
        warehouse.rows(Article, "true")[0].model_copy(update={"page_id": page, "title": title})
    ]))  # fmt: skip
    listed(warehouse, begun(warehouse, api))
    assert left_out(warehouse) == expected


def test_articles_of_another_wiki_are_no_reason(warehouse: Warehouse, api: str) -> None:
    imported(warehouse, "https://other.example/wiki/Mill", "Mill")
    listed(warehouse, begun(warehouse, api))
    assert left_out(warehouse) == []


def test_a_trial_neither_leaves_out_nor_takes(warehouse: Warehouse, api: str) -> None:
    frozen(warehouse, api, "tried", 1, 2, trial=True)
    listed(warehouse, begun(warehouse, api))
    assert left_out(warehouse) == []
    frozen(warehouse, api, "2026-12", 3, 4)
    listed(warehouse, begun(warehouse, api, "tried-again", trial=True))
    assert left_out(warehouse, "tried-again") == []
    with pytest.raises(EditionError, match=r"--not-counted True \(it has False\)"):
        begun(warehouse, api, trial=True)


def test_what_is_frozen_while_an_edition_is_collected_is_left_out_too(
    warehouse: Warehouse, api: str
) -> None:
    collection = listed(warehouse, begun(warehouse, api))
    frozen(warehouse, api, "meanwhile", 3, 4)
    imported(warehouse, f"{api.removesuffix('w/api.php')}wiki/Mill", "Mill")
    exclude_newly_frozen(warehouse, collection)
    assert left_out(warehouse) == ["Mill", "Lock", "Sluice"]


def test_the_list_stays_when_an_edition_is_gone(warehouse: Warehouse, api: str) -> None:
    imported(warehouse, f"{api.removesuffix('w/api.php')}wiki/Mill", "Mill")
    collection = listed(warehouse, begun(warehouse, api))
    for model in (Edition, Article):
        warehouse.write(Change(model, [], replacing={"edition": "published"}))
    exclude_newly_frozen(warehouse, collection)
    listed(warehouse, collection)
    assert left_out(warehouse) == ["Mill"]


def test_the_manifest_names_the_list_and_its_hash_covers_it(warehouse: Warehouse, api: str) -> None:
    first = frozen(warehouse, api, "2026-10", 1, 2, until=datetime(2026, 10, 21, tzinfo=UTC))
    second = frozen(warehouse, api, "2026-11", 3, 4)
    manifest = json.loads(second.manifest or "")
    assert manifest["last_until"] == first.created_until.isoformat()
    assert [entry["is_leftover"] for entry in manifest["articles"]] == [True, True]
    before = json.loads(first.manifest or "")
    assert [entry["is_leftover"] for entry in before["articles"]] == [False, False]
    assert manifest["excluded"] == [[1, "Mill"], [2, "Weir"]]
    assert [row["page_id"] for row in manifest["ranked"]] == [3, 4]
    alone = frozen(warehouse, api, "trial", 3, 4, trial=True)
    assert alone.manifest_sha != second.manifest_sha


@contextmanager
def elsewhere(
    warehouse: Warehouse, api: str, where: str, folder: Path
) -> Iterator[tuple[str, str]]:
    """The manifest of somebody's edition, and its hash: in a file, or at an address."""
    with open_warehouse(folder / "theirs.duckdb") as theirs:
        made = frozen(theirs, api, "2026-10", 1, 2)
    file = folder / "manifest.json"
    file.write_text(made.manifest or "", "utf-8")
    with serving(lambda request: json_response(json.loads(made.manifest or ""))) as address:
        yield (str(file) if where == "file" else f"{address}/m.json"), str(made.manifest_sha)


@pytest.mark.parametrize("where", ["file", "address"])
def test_articles_of_a_named_manifest_are_left_out(
    warehouse: Warehouse, api: str, tmp_path: Path, where: str
) -> None:
    with elsewhere(warehouse, api, where, tmp_path) as (manifest, sha):
        exclude = (ExcludedManifest(manifest=manifest, sha256=sha),)
        collection = listed(warehouse, begun(warehouse, api), exclude=exclude)
        assert left_out(warehouse) == ["Mill", "Weir"]
        assert {row.origin for row in warehouse.rows(ExcludedArticle, "true")} == {manifest}
        assert collection.last_until is None  # theirs ended on the same day


def test_a_manifest_of_another_wiki_takes_nothing(
    warehouse: Warehouse, api: str, tmp_path: Path
) -> None:
    with elsewhere(warehouse, api, "file", tmp_path) as (manifest, sha), serving(answer) as other:
        exclude = (ExcludedManifest(manifest=manifest, sha256=sha),)
        listed(warehouse, begun(warehouse, f"{other}/w/api.php"), exclude=exclude)
    assert left_out(warehouse) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("{}", "expected an edition's manifest"),
        ("[1]", "expected an edition's manifest"),
        ("no json", "expected an edition's manifest"),
    ],
)
def test_a_manifest_that_cannot_be_read_stops_before_anything_is_stored(
    warehouse: Warehouse, api: str, tmp_path: Path, text: str | None, said: str
) -> None:
    file = tmp_path / "manifest.json"
    if text is not None:
        file.write_text(text, "utf-8")
    exclude = (ExcludedManifest(manifest=str(file), sha256="0" * 64),)
    with pytest.raises(EditionError, match=said):
        listed(warehouse, begun(warehouse, api), exclude=exclude)
    assert warehouse.rows(Candidate, "true") == []


def test_a_manifest_of_another_hash_is_refused(
    warehouse: Warehouse, api: str, tmp_path: Path
) -> None:
    with elsewhere(warehouse, api, "file", tmp_path) as (manifest, sha):
        exclude = (ExcludedManifest(manifest=manifest, sha256="0" * 64),)
        with pytest.raises(EditionError, match=f"its hash is {sha}, not 000"):
            listed(warehouse, begun(warehouse, api), exclude=exclude)


def test_a_dry_run_of_a_frozen_edition_says_that_it_is(warehouse: Warehouse, api: str) -> None:
    frozen(warehouse, api, "2026-11", 1, 2)
    asked = CollectionRequest(edition="2026-11", api_url=api)
    with pytest.raises(EditionError, match="2026-11 is frozen"):
        asyncio.run(count_choice(warehouse, asked, SETTINGS, NOW, print))


@pytest.mark.parametrize(
    ("articles", "is_enough"), [(1, True), (2, True), (3, False), (100, False)]
)
def test_an_edition_of_too_few_articles_is_not_frozen(
    warehouse: Warehouse, api: str, articles: int, is_enough: bool
) -> None:
    """Two can be chosen; six are needed, or as many as were asked for."""
    collection = listed(warehouse, begun(warehouse, api, until=NOW.replace(hour=0, minute=0)))
    measured = [
        candidate.model_copy(update={"revision_id": 1, "bytes": 1, "reference_urls": 1,
                                     "headings": 1, "category": "History"})
        for candidate in warehouse.rows(Candidate, "page_id <= 2")
    ]  # fmt: skip
    warehouse.write(Change(Candidate, measured))
    asked = collection.model_copy(update={"n_articles": articles})

    told = explain_too_few(warehouse, asked, SETTINGS)
    assert (told is None) == is_enough
    if told:
        fewest = min(articles, SETTINGS.fewest_articles)
        assert f"2 articles of its window can be chosen, and it needs {fewest}" in told


def test_a_manifest_is_read_before_the_wiki_is_asked(warehouse: Warehouse) -> None:
    exclude = (ExcludedManifest(manifest="no such file", sha256="0" * 64),)
    with pytest.raises(EditionError, match="no such file"):
        listed(warehouse, begun(warehouse, "http://127.0.0.1:9/w/api.php"), exclude=exclude)
