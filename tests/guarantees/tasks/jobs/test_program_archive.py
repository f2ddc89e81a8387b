"""What a program with `archive: true` can read and change: a real one, run for an edition."""

import asyncio
from pathlib import Path

import polars as pl
import pytest

from tasks.agents.agent import JobAnswer, JobRequest
from tasks.agents.command.client import CommandClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders
from tasks.editions.prompts import assign_writing
from tasks.imports.wlc import import_edition
from tasks.jobs.sessions import prepare_workplace
from tasks.models.errors import Misconfigured
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Article
from tasks.warehouse.rubrics import ClickedDocument
from tasks.warehouse.snapshot import export_edition, latest_snapshot
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.agents.programs import run_program

ROOT = Path(__file__).resolve().parents[4]
GOOD = "https://towers.example/harrow"
NEW = "https://new.example/"
SHORT, COPY = "https://short.example/h", "https://blog.example/copy"
FORGING = """
archive="$EVERGREEN_ARCHIVE"
ls "$archive"
chmod u+w "$archive" "$archive/pages.parquet"
echo forged > "$archive/pages.parquet"
rm -f "$archive/pages.parquet"
echo tried
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The sample edition with its first article among the pages, before it was exported."""
    path = tmp_path / "w.duckdb"
    with open_warehouse(path) as store:
        import_edition(store, ROOT / "data" / "sample", "sample", [])
        article = first_article(store)
        target = Page(edition="sample", url=article.url, status="ok", text=article.text)
        store.write(
            Change(
                Page,
                [
                    target,
                    target.model_copy(update={"url": COPY}),
                    target.model_copy(
                        update={"url": SHORT, "text": "Moved.", "final_url": article.url}
                    ),
                    target.model_copy(update={"url": GOOD, "text": "A granite tower."}),
                ],
            )
        )
        assert assign_writing(store, "sample")
    return path


def first_article(store: Warehouse) -> Article:
    return store.rows(Article, "edition = 'sample'")[0]


def prepare(store: Warehouse, ask: CommandAsk) -> AgentFolders:
    return asyncio.run(prepare_workplace(store, "sample", ask))


def run(place: AgentFolders, ask: CommandAsk) -> JobAnswer:
    client = CommandClient("forger", ask, place)
    asked = JobRequest(job="j", edition="sample", assignment="a", title="T",
                       kind="write_article", prompt="Write it.")  # fmt: skip

    return run_program(client, asked)


def urls(place: AgentFolders) -> set[str]:
    assert place.archive is not None
    return set(pl.read_parquet(place.archive / "pages.parquet")["url"])


def test_a_program_gets_no_answer_and_cannot_change_our_snapshot(path: Path) -> None:
    ask = CommandAsk(kind="command", command=("sh", "-c", FORGING), archive=True)
    with open_warehouse(path) as store:
        place = prepare(store, ask)
        assert GOOD in urls(place)
        assert not {first_article(store).url, COPY, SHORT} & urls(place)
        snapshot = latest_snapshot(path, "sample") / "pages.parquet"
        before = snapshot.read_bytes()
        copy = (place.archive or path) / "pages.parquet"
        given = copy.read_bytes()
        assert run(place, ask).text == "pages.parquet\ntried\n"
        assert copy.read_bytes() == given
        assert snapshot.read_bytes() == before
        assert GOOD in urls(prepare(store, ask))


def test_what_came_after_the_last_export_is_banned_and_archived(path: Path) -> None:
    ask = CommandAsk(kind="command", command=("true",), archive=True)
    with open_warehouse(path) as store:
        export_edition(store, "sample")
        assert GOOD in urls(prepare(store, ask))
        late = Article(**first_article(store).model_dump() | {"article": "late", "url": GOOD})
        new = Page(edition="sample", url=NEW, status="ok", text="New.")
        store.write(Change(Article, [late]), Change(Page, [new]))
        found = urls(prepare(store, ask))
        assert GOOD not in found
        assert NEW in found
        clicked = ClickedDocument(edition="sample", assignment="late", url=NEW, raw_url=NEW)
        store.write(Change(ClickedDocument, [clicked]))
        assert NEW not in urls(prepare(store, ask))


def test_without_the_articles_sources_an_agent_that_is_given_them_is_not_asked(path: Path) -> None:
    ask = CommandAsk(kind="command", command=("true",), archive="references")
    with (
        open_warehouse(path) as store,
        pytest.raises(Misconfigured, match="evergreen refresh --edition sample"),
    ):
        prepare(store, ask)


def test_a_program_without_archive_gets_none(path: Path) -> None:
    with open_warehouse(path) as store:
        assert prepare(store, CommandAsk(kind="command", command=("true",))).archive is None
