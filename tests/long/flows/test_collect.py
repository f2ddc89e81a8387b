"""Collecting an edition from a real MediaWiki: all of it, with faults, and killed in between."""

import json
import os
import signal
import subprocess
import sys
import time
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
        if expected & {"list", "disambiguation", "too_short"}
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
    assert len(found) == ARTICLES
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


def test_titles_that_would_share_a_file_name_stay_apart(calm: Path) -> None:
    names = [name for (name,) in rows(calm, "SELECT article FROM articles")]
    assert len(names) == len(set(names)) == ARTICLES


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


def test_killed_again_and_again_it_becomes_the_same_edition(
    api: str, calm: Path, wiki: RunningWiki, configs: Path, tmp_path: Path
) -> None:
    warehouse = tmp_path / "killed.duckdb"
    wiki.calm()
    kills = 0
    dated: list[set[int]] = [set()]
    for wanted in (2, 6, 12, 10_000):
        process = subprocess.Popen(
            _command(wiki, warehouse), env=_environment(configs), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        before = len(wiki.requests())
        while process.poll() is None and len(wiki.requests()) - before < wanted:
            time.sleep(0.02)
        if process.poll() is None and wanted < 10_000:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        asked_now = {r["post"].get("pageids") for r in wiki.requests()[before:] if _dates(r)}
        assert not asked_now & {str(page_id) for page_id in dated[-1]}
        dated.append(_dated(warehouse))
    assert kills == 3
    assert any(dated[:-1])
    assert sha(warehouse) == sha(calm)
    assert rows(warehouse, "SELECT count(*), count(DISTINCT page_id) FROM articles") == [
        (ARTICLES, ARTICLES)
    ]
    # Three requests are under way at most; under load as many answers are on their way to disk.
    asked = Counter(json.dumps(r["post"], sort_keys=True) for r in wiki.requests())
    assert sum(asked.values()) - len(asked) <= 6 * kills


def _dates(request: dict[str, Any]) -> bool:
    """Whether a request asks for a page's first revision."""
    return "rvdir" in request["post"]


def _dated(warehouse: Path) -> set[int]:
    """The pages whose first revision was kept when the process was killed."""
    if not warehouse.exists():
        return set()
    try:
        kept = rows(warehouse, "SELECT page_id FROM candidates WHERE created_at IS NOT NULL")
    except duckdb.CatalogException:
        return set()
    return {page_id for (page_id,) in kept}


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
    collected(evergreen, wiki, both, "--spread", edition="spread")
    code, out, _ = evergreen("--warehouse", both, "edition", "diff", "e", "spread")
    assert code == 1
    assert "spread: False became True" in out
    turns = rows(
        both, "SELECT max(turn) FROM candidate_ranking WHERE edition = 'spread' AND place <= 12"
    )
    all_categories = rows(
        both, "SELECT count(DISTINCT category) FROM candidate_ranking WHERE edition = 'spread'"
    )
    chosen_categories = rows(
        both, "SELECT count(DISTINCT category) FROM candidate_ranking "
        "WHERE edition = 'spread' AND place <= 12",
    )  # fmt: skip
    assert chosen_categories[0][0] == min(12, all_categories[0][0])
    assert turns[0][0] >= 1
    code, out, _ = evergreen("--warehouse", both, "edition", "diff", "e", "e")
    assert (code, out.strip()) == (0, "e and e have the same content.")


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


def test_an_edition_cannot_be_begun_again_with_other_settings(
    calm: Path, evergreen: Evergreen, configured: None
) -> None:
    code, _, err = evergreen(
        "--warehouse", calm, "collect", "--edition", "e", "--articles", "3"
    )  # fmt: skip
    assert code == 1
    assert "--articles 3 (it has 12)" in err
