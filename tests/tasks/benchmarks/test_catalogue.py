"""The publisher's lists of articles and agents."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tasks.benchmarks.catalogue import find_unused_agents, read_agents, read_articles
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.layout import Layout
from tests.tasks.benchmarks.edition_builder import ARTICLE, EditionBuilder

URL = "https://en.wikipedia.org/wiki/Parasitic_ant"


@pytest.fixture
def built(tmp_path: Path) -> EditionBuilder:
    return EditionBuilder(tmp_path)


def test_every_column_of_the_list_reaches_its_field(built: EditionBuilder) -> None:
    built.articles(
        [
            {
                "title": "Parasitic_ant",
                "url": URL,
                "created_ts": "20250303074828",
                "bytes": "78519",
                "views_total": "18239",
                "external_links": "150",
                "ga_date": "2025-10-16",
                "ga_topic_keyword": "Biology",
                "category": "Natural sciences",
            }
        ]
    )
    entry = read_articles(Layout.open(built.root))[ARTICLE]
    assert entry.title == "Parasitic ant"
    assert entry.created_at == datetime(2025, 3, 3, 7, 48, 28, tzinfo=UTC)
    assert entry.promoted_on == date(2025, 10, 16)
    assert (entry.bytes, entry.views, entry.external_links) == (78519, 18239, 150)
    assert (entry.topic, entry.category) == ("Biology", "Natural sciences")
    assert not entry.promoted_before_created


def test_figures_that_cannot_be_read_are_null_and_named(built: EditionBuilder) -> None:
    row = {"title": ARTICLE, "url": URL, "bytes": "many", "views_total": "9" * 30, "ga_date": "?"}
    built.articles([row | {"unread": "yes"}])
    entry = read_articles(Layout.open(built.root))[ARTICLE]
    assert (entry.bytes, entry.views, entry.promoted_on) == (None, None, None)
    assert set(entry.unread) == {"bytes", "views_total", "ga_date"}


def test_a_question_in_the_json_list_is_the_prompt(built: EditionBuilder) -> None:
    listed = [{"id": 1, "title": ARTICLE, "url": URL, "question": "Write about ants."}]
    built.write("wiki_data/ga_1.json", json.dumps(listed))
    assert read_articles(Layout.open(built.root))[ARTICLE].prompt == "Write about ants."


def test_a_json_list_alone_is_enough(built: EditionBuilder) -> None:
    (built.root / "wiki_data/ga_1.csv").unlink()
    built.write("wiki_data/ga_1.json", json.dumps([{"title": "A/B", "url": URL}]))
    assert list(read_articles(Layout.open(built.root))) == ["A_B"]


def test_an_edition_without_any_list_says_which_files_were_expected(built: EditionBuilder) -> None:
    (built.root / "wiki_data/ga_1.csv").unlink()
    with pytest.raises(EditionError, match=r"no list of articles; expected ga_<n>\.csv"):
        read_articles(Layout.open(built.root))


def read_lists(layout: Layout) -> None:
    read_articles(layout)
    read_agents(layout, "e")


CSV, JSON, REGISTRY = "wiki_data/ga_1.csv", "wiki_data/ga_1.json", "test_data/agencies.json"
BROKEN = [
    (CSV, "title,bytes\nA,1\n", "lacks the column url"),
    (CSV, "", "lacks the column title and url"),
    (CSV, b"title,url\n\xff,x\n", "not UTF-8"),
    (CSV, 'title,url\n"A,x\n', "cannot be read as a table"),
    (CSV, "title,url\n,https://x.example\n", "record 2 has no title"),
    *((JSON, content, r"ga_1\.json") for content in ("{", "{}", "[1]")),
    *((REGISTRY, content, r"agencies\.json") for content in
      ("{", "[]", '{"agencies": []}', '{"agencies": {"alpha": 1}}')),
]  # fmt: skip


@pytest.mark.parametrize(("path", "content", "complaint"), BROKEN)
def test_a_broken_list_ends_the_import_naming_the_file(
    built: EditionBuilder, path: str, content: str | bytes, complaint: str
) -> None:
    built.write(path, content)
    with pytest.raises(EditionError, match=complaint) as caught:
        read_lists(Layout.open(built.root))
    assert str(built.root / path) in str(caught.value)


def test_agents_are_named_by_the_registry_disabled_ones_too_and_else_by_their_folders(
    built: EditionBuilder,
) -> None:
    agent = read_agents(Layout.open(built.root), "e")["alpha"]
    assert (agent.name, agent.declares_citations) == ("alpha", None)
    built.registry({"alpha": {"name": "Alpha One", "has_citations": False, "enabled": False},
                    "ghost": {}})  # fmt: skip
    agent = read_agents(Layout.open(built.root), "e")["alpha"]
    assert (agent.name, agent.declares_citations) == ("Alpha One", False)
    assert find_unused_agents(Layout.open(built.root)) == ["ghost"]
