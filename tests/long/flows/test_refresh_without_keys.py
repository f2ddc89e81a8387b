"""A month with the configuration as it comes and no key: collected, written, judged, published.

The wiki is a real MediaWiki where one is installed (`make rigs`), else one on paper. Its articles'
references lead to a web server on this machine.
"""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.changed_configs import change
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import rows, value
from tests.rigs.mediawiki.running import missing, running
from tests.rigs.month_places import SINCE, UNTIL, Sources, month_pages
from tests.rigs.month_world import ROOT, write_configs
from tests.rigs.paper_wiki import paper_wiki
from tests.servers.serving import serving
from tests.waiting import until

ARTICLES, PAGES_EACH, MOST = 2, 7, 11
AGENT = "sources_baseline"
NOT_A_KEY = re.compile(r"(?!.*(?:KEY|TOKEN|SECRET)|EVERGREEN_|.*_URL$)")


@dataclass
class Outside:
    """The wiki, the pages that its articles cite, and the configuration that names both."""

    sources: Sources
    configs: Path
    environment: dict[str, str]

    def refresh(self, folder: Path, *options: str) -> "subprocess.Popen[str]":
        """`evergreen refresh` as a process, in a group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "flows", "refresh", "--edition", "m",
             "--since", f"{SINCE:%Y-%m-%d}", "--until", f"{UNTIL:%Y-%m-%d}",
             "--warehouse", str(folder / "w.duckdb"), "--site", str(folder / "site"), *options],
            cwd=ROOT, env=self.environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip


@contextmanager
def outside_of(folder: Path, **refresh: Any) -> Iterator[Outside]:
    sources = Sources(0.3)
    with serving(sources) as address:
        sources.address = address
        pages = [
            page.model_copy(update={"wikitext": re.sub(
                r"https://library\.example/(\d+)/(\d+)",
                lambda found: f"{address}/source/{found[1]}/{int(found[2]) // 2}",
                page.wikitext,
            )})
            for page in month_pages(ARTICLES)
        ]  # fmt: skip
        with paper_wiki(pages) if missing() else running(folder / "wiki", pages) as wiki:
            shipped = yaml.safe_load((ROOT / "configs" / "refresh.yaml").read_text("utf-8"))
            configs = write_configs(folder, wiki.api, address, {
                "agents": shipped["agents"], "judge": None, "articles": ARTICLES,
                "reference_pages": MOST,
            } | refresh)  # fmt: skip
            quick = {"first_poll_seconds": 0.2, "longest_poll_seconds": 0.5}
            change(configs / "agents.yaml",
                   lambda s: s["agents"][AGENT]["ask"]["limits"].update(quick))  # fmt: skip
            kept = {name: text for name, text in os.environ.items() if NOT_A_KEY.match(name)}
            environment = kept | {
                "EVERGREEN_CONFIGS": str(configs), "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME),
            }  # fmt: skip
            yield Outside(sources, configs, environment)


@dataclass
class Ended:
    """The month after it was killed once and run to its end."""

    folder: Path
    asked: Counter[str]
    """Requests to the web server, by path."""
    asked_before: Counter[str]
    """Those before the kill."""

    @property
    def warehouse(self) -> Path:
        return self.folder / "w.duckdb"


@pytest.fixture(scope="module")
def ended(api: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    folder = tmp_path_factory.mktemp("month")
    with outside_of(folder) as outside:
        first = outside.refresh(folder)
        until("pages of the references", lambda: outside.sources.asked.total() >= 5, pause=0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
        before = outside.sources.asked.copy()
        again = outside.refresh(folder)
        said, _ = again.communicate(timeout=300)
        assert again.returncode == 0, said
        asked = outside.sources.asked.copy()
        third = outside.refresh(folder)
        said, _ = third.communicate(timeout=300)
        assert third.returncode == 0, said
        assert "is refreshed" in said
        assert outside.sources.asked == asked
        yield Ended(folder, asked, before)


def test_it_fetches_the_pages_of_references_up_to_the_cap_each_once(ended: Ended) -> None:
    seeds = rows(ended.warehouse, "SELECT DISTINCT agent, raw_url FROM seed_pages ORDER BY ALL")
    assert {agent for agent, _ in seeds} == {AGENT}
    paths = {path for path in ended.asked if path.startswith("/source/")}
    assert {f"/{url.split('/', 3)[3]}" for _, url in seeds} == paths
    assert len(paths) == MOST < ARTICLES * PAGES_EACH
    each = Counter(path.split("/")[2] for path in paths)
    assert sorted(each.values()) == [MOST // 2, MOST - MOST // 2]
    under_way = sum(ended.asked_before.values())
    assert sum(ended.asked[path] for path in paths) <= MOST + under_way
    assert max(ended.asked[path] for path in paths) <= 2
    assert value(ended.warehouse, "SELECT count(*) FROM calls WHERE cost_usd > 0") == 0


def test_the_baseline_writes_from_them_and_is_judged(ended: Ended) -> None:
    reports = rows(ended.warehouse, "SELECT agent, count(*) FROM reports GROUP BY ALL")
    assert reports == [(AGENT, ARTICLES)]
    cited = {url for (url,) in rows(ended.warehouse, "SELECT DISTINCT url FROM citations")}
    seeds = {url for (url,) in rows(ended.warehouse, "SELECT url FROM seed_pages")}
    assert cited
    assert cited <= seeds
    n, n_ok = rows(ended.warehouse, "SELECT count(*), count(value) FROM leaderboard "
                   "WHERE metric IN ('coverage_wiki', 'ref_acc')")[0]  # fmt: skip
    assert n == n_ok == 2


def test_the_board_lists_it_apart_with_the_reason(ended: Ended) -> None:
    found = rows(ended.warehouse, "SELECT DISTINCT unranked FROM leaderboard")
    assert found == [("it was given the articles' own sources, which the others have to find",)]
    board = (ended.folder / "site" / "index.html").read_text("utf-8")
    assert "given the articles&#39; sources" in board
    assert "own sources, which the others have to find" in board


def test_without_a_contact_it_does_not_begin(api: str, tmp_path: Path) -> None:
    with outside_of(tmp_path) as outside:
        change(outside.configs / "web.yaml", lambda s: s.pop("operator"))
        running = outside.refresh(tmp_path)
        said, _ = running.communicate(timeout=120)
        assert running.returncode == 1
        assert "configs/web.yaml: `operator` is empty" in " ".join(said.split())
        assert not outside.sources.asked
