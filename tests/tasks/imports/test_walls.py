"""Published texts that are walls get a status; what was published is kept."""

from tasks.imports.wlc import mark_walls
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Edition, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.cited_pages import EDITION, a_page

STORY = "The bridge of Tolvane was opened in 1931 by the mayor of the town. " * 20
CHALLENGE = "Checking your browser before accessing the site. Enable JavaScript and cookies."


def a_text(name: str, title: str, text: str, source: str | None = "published") -> Page:
    return a_page(f"https://a.org/{name}", title=title, text=text, text_sha=content_sha(text),
                  source=source)  # fmt: skip


def test_walls_among_published_texts_get_their_status_and_keep_their_text(
    warehouse: Warehouse,
) -> None:
    pages = [
        a_text("wall", "Just a moment...", CHALLENGE),
        a_text("old_wall", "Just a moment...", CHALLENGE, None),
        a_text("story", "How captchas and Cloudflare work", STORY),
        a_text("fetched", "Just a moment...", CHALLENGE, "direct"),
        a_page("https://a.org/gone", status="unfetchable", source="published"),
    ]
    warehouse.write(
        Change(Edition, [Edition(edition=EDITION, source="made for tests")]),
        Change(Page, pages),
    )
    assert mark_walls(warehouse, EDITION) == 2
    found = {page.url.rpartition("/")[2]: page for page in warehouse.rows(Page, "true")}
    assert {name: page.status for name, page in found.items()} == {
        "wall": "bot_wall", "old_wall": "bot_wall", "story": "ok", "fetched": "ok",
        "gone": "unfetchable",
    }  # fmt: skip
    assert found["wall"].text == CHALLENGE
    assert "just a moment" in (found["wall"].error or "")
    assert found["story"].error is None
    assert mark_walls(warehouse, EDITION) == 0
