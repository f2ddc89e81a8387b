"""Collecting an edition from a real MediaWiki: all of it, and with faults.

tests/long/flows/test_month.py kills a month while it collects."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from tasks.configuration import wikipedia
from tests.conftest import PREFECT_HOME
from tests.flows.conftest import Evergreen
from tests.rigs.mediawiki.collecting import OPERATOR, Views, viewed, views_of, write_configs
from tests.rigs.mediawiki.decoys import EXPECTED, SINCE, UNTIL, decoys
from tests.rigs.mediawiki.pages import WikiPage, read_pages
from tests.rigs.mediawiki.running import RunningWiki, missing, running

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "mediawiki_pages"
WINDOW = ("--since", f"{SINCE:%Y-%m-%d}", "--until", f"{UNTIL:%Y-%m-%d}")
ARTICLES = 12

pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]


@pytest.fixture(scope="module")
def pages() -> list[WikiPage]:
    """The decoys, and the real articles where they are at hand."""
    return decoys() + [page for page in read_pages(REAL) if page.title not in EXPECTED]


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory, pages: list[WikiPage]) -> Iterator[RunningWiki]:
    with running(tmp_path_factory.mktemp("wiki"), pages) as found:
        yield found


@pytest.fixture(scope="module")
def views() -> Iterator[tuple[Views, str]]:
    with viewed() as found:
        yield found


@pytest.fixture(scope="module")
def configs(
    tmp_path_factory: pytest.TempPathFactory, wiki: RunningWiki, views: tuple[Views, str]
) -> Path:
    return write_configs(tmp_path_factory.mktemp("configs"), wiki.api, views[1])


@pytest.fixture
def configured(configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikipedia.load_wikipedia, "__defaults__", (configs,))


def collected(
    evergreen: Evergreen, wiki: RunningWiki, warehouse: Path, *more: str, edition: str = "e"
) -> tuple[str, str]:
    """Collect with the command; what it answered and remarked."""
    code, out, err = evergreen(
        "--warehouse", warehouse, "collect", "--edition", edition, *WINDOW,
        "--articles", str(ARTICLES), "--wiki-api", wiki.api, *more,
    )  # fmt: skip
    assert code == 0, err
    return out, err


def rows(warehouse: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def sha(warehouse: Path) -> str:
    [(found,)] = rows(warehouse, "SELECT manifest_sha FROM collections")
    assert found
    return str(found)


@pytest.fixture(scope="module")
def calm(
    api: str, wiki: RunningWiki, configs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An edition collected without any trouble, by a process of its own."""
    warehouse = tmp_path_factory.mktemp("calm") / "warehouse.duckdb"
    wiki.calm()
    done = subprocess.run(
        _command(wiki, warehouse), env=_environment(configs), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (warehouse.parent / "requests.json").write_text(json.dumps(wiki.requests()), "utf-8")
    (warehouse.parent / "said.txt").write_text(done.stdout + done.stderr, "utf-8")
    return warehouse


def _command(wiki: RunningWiki, warehouse: Path) -> list[str]:
    return [
        sys.executable, "-m", "flows", "--warehouse", str(warehouse), "collect", "--edition", "e",
        *WINDOW, "--articles", str(ARTICLES), "--wiki-api", wiki.api,
    ]  # fmt: skip


def _environment(configs: Path) -> dict[str, str]:
    return {
        **os.environ,
        "EVERGREEN_CONFIGS": str(configs),
        "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME),
        "COLUMNS": "200",
    }


def test_the_listing_is_the_truth_and_every_decoy_is_decided(
    calm: Path, pages: list[WikiPage]
) -> None:
    decided = dict(rows(calm, "SELECT title, decision FROM candidates"))
    listed = {
        page.title
        for page in pages
        if page.good_article_since
        and not page.good_article_until
        and page.good_article_since >= SINCE
    }
    assert set(decided) == listed
    in_window = {title for title, d in decided.items() if d in ("chosen", "outranked")}
    truth = {p.title for p in pages if p.title in listed and SINCE <= p.created < UNTIL}
    unfit = {
        title
        for title, (_, expected) in EXPECTED.items()
        if expected
        & {"list", "disambiguation", "too_short", "machine_written", "under_reassessment"}
    } | {"List of decoys"}
    assert in_window == truth - unfit
    for title, (_, expected) in EXPECTED.items():
        may_be = expected | {"outranked"} if "chosen" in expected else expected
        assert decided[title] in may_be, title


def test_few_requests_are_made_and_all_name_the_operator(calm: Path) -> None:
    requests = json.loads((calm.parent / "requests.json").read_text("utf-8"))
    kinds = Counter(
        r["post"].get("list") or ("first" if "rvdir" in r["post"] else r["post"]["action"])
        for r in requests
    )
    n_listed, n_dated = (
        rows(calm, "SELECT count(*) FROM candidates")[0][0],
        rows(calm, "SELECT count(*) FROM candidates WHERE created_at IS NOT NULL")[0][0],
    )
    assert all(OPERATOR in r["agent"] and r["post"]["maxlag"] == "5" for r in requests)
    assert kinds["categorymembers"] == 1
    assert kinds["first"] == n_dated <= n_listed
    assert kinds["parse"] == ARTICLES
    # Measuring: fifty pages a request and their talk pages, in parts where they are long.
    assert kinds["query"] <= 3 * (n_dated // 50 + 1)
    assert len(requests) == sum(kinds.values())


def test_an_article_is_kept_with_all_it_was_made_from(calm: Path) -> None:
    found = rows(
        calm,
        "SELECT a.title, a.text, a.views, v.revision_id, v.permalink, v.attribution, v.html, "
        "(SELECT count(*) FROM article_links l WHERE l.article = a.article) AS links "
        "FROM articles a JOIN article_revisions v USING (edition, article)",
    )
    assert len(found) == len({title for title, *_ in found}) == ARTICLES
    for title, text, views, revision, permalink, attribution, html, links in found:
        assert len(text.split()) > 100
        assert "[1]" not in text
        assert "reflist" not in text.lower()
        assert views == (views_of(title) if "e" in title.replace(" ", "_") else None)
        assert str(revision) in permalink
        assert "CC BY-SA 4.0" in attribution
        assert title in attribution
        assert "<p>" in html
        assert links > 0


def test_a_reader_can_redo_the_choice(calm: Path) -> None:
    with duckdb.connect(str(calm), read_only=True) as connection:
        eligible = connection.sql(
            "SELECT * FROM candidates WHERE decision IN ('chosen', 'outranked')"
        ).pl()
    redone = (
        eligible.with_columns(
            score=pl.col("reference_urls").rank("min", descending=True)
            + pl.col("headings").rank("min", descending=True)
        )
        .sort("score", "bytes", "page_id", descending=[False, True, False])
        .head(ARTICLES)["title"]
        .to_list()
    )
    ranked = rows(calm, "SELECT title FROM candidate_ranking WHERE place <= n_articles")
    chosen = rows(calm, "SELECT title FROM candidates WHERE decision = 'chosen'")
    assert redone == [title for (title,) in ranked]
    assert sorted(redone) == sorted(title for (title,) in chosen)


@pytest.mark.usefixtures("configured")
def test_a_second_time_it_is_verified_and_nothing_is_asked(
    calm: Path, wiki: RunningWiki, evergreen: Evergreen
) -> None:
    wiki.calm()
    _, err = collected(evergreen, wiki, calm)
    assert "is unchanged: manifest" in " ".join(err.split())
    assert wiki.requests() == []


@pytest.mark.usefixtures("configured")
def test_faults_change_nothing_of_the_edition(
    api: str, calm: Path, wiki: RunningWiki, evergreen: Evergreen, tmp_path: Path
) -> None:
    for kind in ("429", "503", "maxlag", "drop"):
        wiki.calm()
        wiki.fault(kind, count=8, retry_after=0, every=3)
        warehouse = tmp_path / f"{kind}.duckdb"
        collected(evergreen, wiki, warehouse)
        assert sum(r["fault"] is not None for r in wiki.requests()) == 8
        assert sha(warehouse) == sha(calm), kind
    wiki.calm()


@pytest.mark.usefixtures("configured")
def test_what_was_changed_afterwards_is_named(
    calm: Path, wiki: RunningWiki, evergreen: Evergreen, tmp_path: Path
) -> None:
    spoilt = tmp_path / "spoilt.duckdb"
    spoilt.write_bytes(calm.read_bytes())
    [(article,)] = rows(spoilt, "SELECT min(article) FROM articles")
    with duckdb.connect(str(spoilt)) as connection:
        connection.execute("UPDATE articles SET text = text || ' x' WHERE article = $1", [article])
        connection.execute("UPDATE candidates SET headings = 99 WHERE decision = 'outranked'")
    code, _, err = evergreen("--warehouse", spoilt, "edition", "verify", "e")
    assert code == 1
    assert f"{article}: its text does not match its hash" in err
    assert "candidates:" in err
    code, _, err = evergreen(
        "--warehouse", spoilt, "collect", "--edition", "e", "--wiki-api", wiki.api
    )
    assert code == 1
    assert "has changed since it was frozen" in err


@pytest.mark.usefixtures("configured")
def test_two_editions_are_compared_and_categories_can_take_turns(
    api: str, calm: Path, wiki: RunningWiki, evergreen: Evergreen, tmp_path: Path
) -> None:
    both = tmp_path / "both.duckdb"
    both.write_bytes(calm.read_bytes())
    wiki.calm()
    collected(evergreen, wiki, both, "--spread", "--not-counted", edition="spread")
    code, out, _ = evergreen("--warehouse", both, "edition", "diff", "e", "spread")
    assert code == 1
    assert "spread: False became True" in out
    turns = rows(
        both, "SELECT max(turn) FROM candidate_ranking WHERE edition = 'spread' AND place <= 12"
    )
    all_categories = rows(
        both, "SELECT count(DISTINCT category) FROM candidate_ranking "
        "WHERE edition = 'spread' AND category <> 'unknown'",
    )  # fmt: skip
    chosen_categories = rows(
        both, "SELECT count(DISTINCT category) FROM candidate_ranking "
        "WHERE edition = 'spread' AND place <= 12",
    )  # fmt: skip
    assert chosen_categories[0][0] == min(12, all_categories[0][0])
    assert turns[0][0] >= 1
    code, out, _ = evergreen("--warehouse", both, "edition", "diff", "e", "e")
    assert (code, out.strip()) == (0, "e and e have the same content.")


@pytest.mark.usefixtures("configured")
def test_a_second_edition_leaves_out_what_the_first_has_and_a_dry_run_says_what_is_left(
    api: str, calm: Path, wiki: RunningWiki, evergreen: Evergreen, tmp_path: Path
) -> None:
    both = tmp_path / "both.duckdb"
    both.write_bytes(calm.read_bytes())
    [(outranked,)] = rows(both, "SELECT count(*) FROM candidates WHERE decision = 'outranked'")
    wiki.calm()
    out, _ = collected(evergreen, wiki, both, "--dry-run", "--format", "json", edition="next")
    counted = json.loads(out)
    assert (counted["in_other_editions"], counted["fresh"]) == (ARTICLES, outranked)
    assert rows(both, "SELECT edition FROM collections") == [("e",)]
    collected(evergreen, wiki, both, edition="next")
    assert rows(both, "SELECT count(*) FROM shared_articles") == [(0,)]
    collected(evergreen, wiki, both, "--not-counted", edition="tried")
    code, out, _ = evergreen("--warehouse", both, "edition", "list", "--format", "json")
    assert code == 0
    shared = {row["edition"]: (row["shared"], row["title"][:7]) for row in json.loads(out)}
    assert shared["next"] == (0, "Good Ar")
    assert shared["e"][0] == shared["tried"][0] == ARTICLES
    assert shared["tried"][1] == "trial: "


@pytest.mark.usefixtures("configured")
def test_agents_get_one_prompt_for_each_article_and_keep_it(
    api: str, calm: Path, evergreen: Evergreen, tmp_path: Path
) -> None:
    warehouse = tmp_path / "assigned.duckdb"
    warehouse.write_bytes(calm.read_bytes())
    code, _, err = evergreen("--warehouse", warehouse, "assign", "--edition", "e")
    assert code == 0, err
    assert f"{ARTICLES} of them new" in " ".join(err.split())
    prompts = rows(
        warehouse,
        "SELECT title, url, prompt, kind FROM assignments JOIN articles USING (edition, article)",
    )
    assert len(prompts) == ARTICLES
    for title, url, prompt, kind in prompts:
        assert title in prompt
        assert url in prompt
        assert "-site:wikipedia.org" in prompt
        assert "## References" in prompt
        assert prompt.count("\n- ") >= 39
        assert kind == "write_article"
    code, _, err = evergreen("--warehouse", warehouse, "assign", "--edition", "e")
    assert "0 of them new" in " ".join(err.split())
