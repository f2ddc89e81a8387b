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


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"title,bytes\nA,1\n", "lacks the column url"),
        (b"", "lacks the column title and url"),
        (b"title,url\n\xff,x\n", "not UTF-8"),
        (b'title,url\n"A,x\n', "cannot be read as a table"),
        (b"title,url\n,https://x.example\n", "record 2 has no title"),
    ],
)
def test_a_broken_list_of_articles_ends_the_import_naming_the_file(
    built: EditionBuilder, content: bytes, complaint: str
) -> None:
    built.write("wiki_data/ga_1.csv", content)
    with pytest.raises(EditionError, match=complaint) as caught:
        read_articles(Layout.open(built.root))
    assert str(built.root / "wiki_data/ga_1.csv") in str(caught.value)


@pytest.mark.parametrize("content", ["{", "{}", "[1]"])
def test_a_broken_json_list_ends_the_import_naming_the_file(
    built: EditionBuilder, content: str
) -> None:
    built.write("wiki_data/ga_1.json", content)
    with pytest.raises(EditionError, match=r"ga_1\.json"):
        read_articles(Layout.open(built.root))


def test_agents_are_named_by_the_registry_disabled_ones_too(built: EditionBuilder) -> None:
    built.registry({"alpha": {"name": "Alpha One", "has_citations": False, "enabled": False}})
    agent = read_agents(Layout.open(built.root), "e")["alpha"]
    assert (agent.name, agent.declares_citations) == ("Alpha One", False)


def test_without_a_registry_agents_are_named_by_their_folders(built: EditionBuilder) -> None:
    agent = read_agents(Layout.open(built.root), "e")["alpha"]
    assert (agent.name, agent.declares_citations) == ("alpha", None)


def test_a_registered_agent_without_reports_is_told_apart(built: EditionBuilder) -> None:
    built.registry({"alpha": {}, "ghost": {}})
    assert find_unused_agents(Layout.open(built.root)) == ["ghost"]


@pytest.mark.parametrize("content", ["{", "[]", '{"agencies": []}', '{"agencies": {"alpha": 1}}'])
def test_a_broken_registry_ends_the_import_and_says_how_to_go_on(
    built: EditionBuilder, content: str
) -> None:
    built.write("test_data/agencies.json", content)
    with pytest.raises(EditionError, match=r"agencies\.json"):
        read_agents(Layout.open(built.root), "e")
