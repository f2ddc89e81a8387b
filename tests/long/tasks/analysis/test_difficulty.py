"""The categories of the published articles."""

from pathlib import Path

import pytest

from tasks.analysis.difficulty import (
    correlate_difficulty,
    find_single_categories,
    measure_difficulty,
)
from tasks.benchmarks.wlc import read_wlc
from tests.tasks.analysis.test_difficulty import values_of

ROOT = Path(__file__).resolve().parents[5] / "shared" / "data" / "wlc" / "2025_Mar_Nov"


@pytest.mark.published
@pytest.mark.skipif(not ROOT.is_dir(), reason="the published edition is not in ../shared")
def test_the_published_articles_make_fifteen_categories_of_which_four_have_one() -> None:
    edition = read_wlc(ROOT, "2025_Mar_Nov")
    columns = {
        name: {a.article: getattr(a, attribute) for a in edition.articles}
        for name, attribute in (("views", "views"), ("links", "external_links"), ("bytes", "bytes"))
    }
    # What an agent would have that wins less, the longer the article is.
    longest = max(columns["bytes"].values())
    values = {"made up": {article: 1 - n / longest for article, n in columns["bytes"].items()}}
    of = values_of({a.article: a.category for a in edition.articles}, values, **columns)
    frame = measure_difficulty(of)
    assert (frame.height, frame["n_articles"].sum(), len(find_single_categories(of))) == (15, 69, 4)
    by_name = {row["covariate"]: row for row in correlate_difficulty(frame).iter_rows(named=True)}
    assert by_name["bytes"]["r"] == pytest.approx(-1)
    assert {name: row["n_categories"] for name, row in by_name.items()} == {
        "views": 15, "links": 15, "bytes": 15, "statements": 0,
    }  # fmt: skip
