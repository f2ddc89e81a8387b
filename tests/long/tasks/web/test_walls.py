"""Of the published pages only walls are told."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.benchmarks.document import parse_document, parse_pages
from tasks.warehouse.pages import Page
from tasks.web.walls import classify_text

EDITION = Path(__file__).resolve().parents[5] / "shared" / "data" / "wlc" / "2025_Mar_Nov"

HONEST = (
    "https://en.wikipedia.org/wiki/Alexander_McQueen",
    "https://washingtonpost.com/archive/lifestyle/1984/06/20/geographic-expansions/85ecb2c9-8d74-438f-b8b3-64fef262185b",
    "https://ncregister.com/commentaries/pope-leo-xiv-homily-inaugural-mass-transcript",
    "https://pubmed.ncbi.nlm.nih.gov/19197065",
    "https://imperiumromanum.pl/en/battles/battle-of-great-plains",
    "https://digital-commons.usnwc.edu/nwc-review/vol62/iss4/5",
    "https://en.wiktionary.org/wiki/robot_revolution",
    "https://quora.com/Why-did-Star-Trek-stop-using-a-spore-drive",
    "https://hnn.us/article/august-25th-1967-american-hitler-shot-dead",
)
"""Pages that speak of logging in, of pages no longer available, of security or of robots."""
STANDING = (
    "https://apnews.com/article/giants-packers-2008-nfc-championship",
    "https://history.uscg.mil/Assets/Ships/Cutters/Active",
    "https://instagram.com/jimmyessex",
)
"""Walls that only their title gives away, or not even that: not told by their text alone."""


def published_texts() -> Iterator[Page]:
    """The good copies of pages that a published edition archives."""
    for path in EDITION.glob("test_data/*/json_data/*.json"):
        report = parse_document(json.loads(path.read_text("utf-8")))
        if report is not None:
            pages, _ = parse_pages("published", report)
            yield from (page for page in pages if page.status == "ok")


@pytest.mark.published
@pytest.mark.skipif(not EDITION.is_dir(), reason="the published edition is not here")
def test_of_the_published_pages_only_walls_are_told() -> None:
    judged = [
        (page.url, classify_text(page.url, page.title, page.text or "")[0])
        for page in published_texts()
    ]
    # Each of the flagged pages was read: all of them are walls, error pages or without a text of
    # their own; 84 are a video site's pages that say no more than a title.
    assert Counter(status for _, status in judged) == {
        "ok": 1_897,
        "bot_wall": 110,
        "soft_404": 59,
        "empty": 95,
    }
    honest = {url for url, status in judged if status == "ok"}
    assert set(HONEST) <= honest
    assert set(STANDING) <= honest
