"""A frozen edition says what it consists of, and notices what is no longer so."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from tasks.benchmarks.errors import EditionError
from tasks.collection.freeze import freeze_edition
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.manifest import (
    build_manifest,
    find_changes,
    hash_manifest,
    load_frozen_collection,
)
from tasks.warehouse.rows import Article, content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import ArticleLink, ArticleRevision, Candidate, Collection
from tasks.warehouse.writer import Change
from tasks.wikipedia.markdown import CONVERTER_VERSION, to_markdown

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
CREATED = datetime(2026, 9, 1, tzinfo=UTC)
RULES_1 = (
    '{"fewest_words": 300, "list_descriptions": ["List of"], "list_titles": ["List of "], '
    '"margin": 10, "version": 1}'
)
SHA_BY_RULES_1 = "3a2972fd04068394e55317cadf1b4af36698cbd4b76f33604ddd7e2346d637aa"
HTML = "<p>The mill stands by the river.</p>"


def collected(warehouse: Warehouse, edition: str, now: datetime = NOW) -> Collection:
    """Three candidates of which two are wanted, both fetched; still to be closed."""
    request = CollectionRequest(edition=edition, articles=2, until=NOW.replace(hour=0, minute=0))
    begun = begin_collection(warehouse, request, load_wikipedia(), now)
    for page_id, name in enumerate(("Mill", "Weir", "Lock"), start=1):
        key = {"edition": edition, "article": name}
        text = to_markdown(HTML, name)
        warehouse.write(
            Change(Candidate, [_candidate(edition, page_id, name)]),
            Change(Article, [Article(**key, title=name, url=f"https://wiki.example/{name}",
                                     page_id=page_id, text=text, text_sha=content_sha(text))]),
            Change(ArticleRevision, [_revision(key, page_id, text)]),
            Change(ArticleLink, [ArticleLink(**key, number=0, url="https://a.example/x",
                                             raw_url="https://a.example/x/")]),
        )  # fmt: skip
    return begun


def _candidate(edition: str, page_id: int, title: str) -> Candidate:
    return Candidate(
        edition=edition, page_id=page_id, title=title, listed_at=NOW, created_at=CREATED,
        first_revision_id=page_id, revision_id=10 + page_id, revision_at=CREATED, bytes=100,
        words=400, reference_urls=10 - page_id, headings=3, links=2, category="History",
    )  # fmt: skip


def _revision(key: dict[str, str], page_id: int, text: str) -> ArticleRevision:
    return ArticleRevision(
        **key, page_id=page_id, revision_id=10 + page_id, revision_at=CREATED,
        permalink=f"https://wiki.example/?oldid={10 + page_id}", html=HTML,
        html_sha=content_sha(HTML), text_sha=content_sha(text),
        converter_version=str(CONVERTER_VERSION), licence="CC BY-SA 4.0",
        licence_url="https://creativecommons.example/", attribution="its authors",
    )  # fmt: skip


def test_closing_decides_every_candidate_and_keeps_only_the_chosen(warehouse: Warehouse) -> None:
    closed = freeze_edition(warehouse, collected(warehouse, "e"))
    decided = {c.title: c.decision for c in warehouse.rows(Candidate, "true")}
    assert decided == {"Mill": "chosen", "Weir": "chosen", "Lock": "outranked"}
    for model in (Article, ArticleRevision, ArticleLink):
        kept = warehouse.frame(f"SELECT DISTINCT article FROM {model.table} ORDER BY article")
        assert kept["article"].to_list() == ["Mill", "Weir"]
    assert closed.manifest_sha
    assert find_changes(warehouse, "e") == []


def test_the_hash_knows_neither_name_nor_hour(warehouse: Warehouse) -> None:
    first = freeze_edition(warehouse, collected(warehouse, "one"))
    second = freeze_edition(warehouse, collected(warehouse, "two", NOW.replace(hour=20)))
    assert first.manifest_sha == second.manifest_sha
    assert first.manifest != second.manifest


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a frozen edition; to be copied."""
    path = tmp_path_factory.mktemp("frozen") / "w.duckdb"
    with open_warehouse(path) as warehouse:
        freeze_edition(warehouse, collected(warehouse, "e"))
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE articles SET text = text || '.'", "Mill: its text does not match its hash"),
        ("UPDATE articles SET views = 7", "Mill: views None became 7"),
        ("UPDATE article_revisions SET html = html || ' '", "Mill: its HTML does not match its"),
        ("UPDATE article_links SET url = 'https://b.example/'", "Mill: links_sha"),
        ("DELETE FROM article_links", "Mill: links_sha"),
        ("DELETE FROM articles", "Mill: only in the first"),
        ("UPDATE candidates SET headings = 9 WHERE title = 'Lock'", "candidates:"),
        ("UPDATE candidates SET maintenance_tags = 'cn' WHERE title = 'Lock'", "candidates:"),
        ("UPDATE collections SET n_articles = 3", "n_articles: 2 became 3"),
        ("UPDATE collections SET manifest_sha = 'x'", "does not match its stored hash"),
        (
            "INSERT INTO articles BY NAME SELECT * REPLACE ('Other' AS article) FROM articles "
            "WHERE article = 'Mill'",
            "Other: only in the second",
        ),
    ],
)
def test_what_was_changed_is_named(frozen: Path, tmp_path: Path, change: str, said: str) -> None:
    path = Path(shutil.copy(frozen, tmp_path / "warehouse.duckdb"))
    with duckdb.connect(str(path)) as connection:
        connection.execute(change)
    with open_warehouse(path) as warehouse:
        problems = find_changes(warehouse, "e")
    assert any(said in problem for problem in problems), problems


def test_editions_of_earlier_rules_keep_their_hash_whatever_columns_came_later(
    warehouse: Warehouse,
) -> None:
    collection = Collection(
        edition="before", api_url="https://wiki.example/w/api.php",
        category="Category:Good articles", created_since=CREATED, created_until=NOW, n_articles=2,
        rules=RULES_1, formula_version="1", begun_at=NOW,
    )  # fmt: skip
    decided = [
        _candidate("before", page_id, title).model_copy(update={"decision": decision})
        for page_id, (title, decision) in enumerate(
            (("Mill", "chosen"), ("Weir", "chosen"), ("Lock", "outranked")), start=1
        )
    ]
    warehouse.write(Change(Collection, [collection]), Change(Candidate, decided))
    manifest = build_manifest(warehouse, collection)
    assert hash_manifest(manifest) == SHA_BY_RULES_1
    frozen = {"frozen_at": NOW, "manifest": manifest, "manifest_sha": SHA_BY_RULES_1}
    warehouse.write(Change(Collection, [collection.model_copy(update=frozen)]))
    warehouse.write(
        Change(Candidate, [c.model_copy(update={"maintenance_tags": "cn"}) for c in decided])
    )
    assert find_changes(warehouse, "before") == []


def test_what_is_not_frozen_cannot_be_verified(warehouse: Warehouse) -> None:
    collected(warehouse, "begun")
    with pytest.raises(EditionError, match="not frozen yet"):
        load_frozen_collection(warehouse, "begun")
    with pytest.raises(EditionError, match="Known: begun"):
        find_changes(warehouse, "other")
