"""A whole month on loopback, killed in each of its parts: bought, asked and fetched as often as an
undisturbed one, and the same in the end.

The wiki is a real MediaWiki where one is installed (`make rigs`), else one on paper.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import rows, value
from tests.rigs import month_kills
from tests.rigs.compared_tables import differences
from tests.rigs.mediawiki.running import missing, running
from tests.rigs.month_kills import Kill, KilledMonth, moments
from tests.rigs.month_places import month_pages
from tests.rigs.month_world import AGENTS, BASELINE, World, world
from tests.rigs.paper_wiki import paper_wiki
from tests.servers.jobs import JobScript

pytestmark = [pytest.mark.rig]
ARTICLES = 4
WIKI_AT_A_KILL = 6
"""Requests to the wiki that may be made again: three are under way at most, and as many answers on
their way to disk."""
SCRIPTS = {
    AGENTS[0]: JobScript(
        polls=4, posts=("rate_limit_retry_after",), looks=(None, "unavailable_503"),
        hint_seconds=0.1,
    ),
    AGENTS[1]: JobScript(polls=4, looks=("server_500",), hint_seconds=0.1),
}  # fmt: skip


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("outside")
    pages = month_pages(ARTICLES)
    with (
        paper_wiki(pages) if missing() else running(folder / "wiki", pages) as wiki,
        world(
            folder, wiki, slow=0.1, delay_seconds=0.1, scripts=SCRIPTS, articles=ARTICLES,
            faults=("rate_limit_retry_after", "truncated_json"),
        ) as found,
    ):  # fmt: skip
        yield found


@dataclass(frozen=True)
class Done:
    """A month that came to its end."""

    warehouse: Path
    site: Path
    counts: dict[str, int]
    kills: tuple[Kill, ...] = ()


def driver_of(outside: World, folder: Path) -> KilledMonth:
    to = ("--site", str(folder / "site"))
    return KilledMonth(outside, folder / "warehouse.duckdb", PREFECT_HOME, to)


@pytest.fixture(scope="module")
def calm(api: str, outside: World, tmp_path_factory: pytest.TempPathFactory) -> Done:
    return undisturbed(outside, tmp_path_factory.mktemp("calm"))


def undisturbed(outside: World, folder: Path) -> Done:
    outside.configure(schedule=None)
    driver = driver_of(outside.renewed(), folder)
    driver.begin()
    assert driver.wait() == 0, driver.said()
    return Done(driver.warehouse, folder / "site", outside.counts())


@pytest.fixture(scope="module")
def killed(api: str, outside: World, calm: Done, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("killed")
    driver = driver_of(outside.renewed(), folder)
    kills = driver.killed_at(*moments(calm.counts))
    assert driver.wait() == 0, driver.said()
    return Done(driver.warehouse, folder / "site", outside.counts(), tuple(kills))


def day_of(done: Done) -> str:
    """The day (UTC) on which its edition was begun, which its prompts name."""
    return str(value(done.warehouse, "SELECT begun_at::DATE FROM collections"))


def check_as_calm(done: Done, calm: Done, outside: World, folder: Path) -> None:
    """See that it bought, asked and fetched no more than it must, and is the same in the end."""
    if day_of(done) != day_of(calm):  # midnight came between them
        calm = undisturbed(outside, folder)
    open_then = {name: sum(kill.open[name] for kill in done.kills) for name in ("answers", "pages")}
    now, then = done.counts, calm.counts
    for agent in AGENTS:
        assert now[f"jobs {agent}"] == then[f"jobs {agent}"] == ARTICLES
    assert now["different pages"] == then["different pages"] == then["pages"]
    assert then["pages"] <= now["pages"] <= then["pages"] + open_then["pages"], done.kills
    assert then["answers"] <= now["answers"] <= then["answers"] + open_then["answers"], done.kills
    assert now["different wiki"] == then["different wiki"] == then["wiki"]
    assert now["wiki"] - then["wiki"] <= WIKI_AT_A_KILL * len(done.kills)
    assert differences(*map(month_kills.contents, (calm.warehouse, done.warehouse))) == []
    for table in ("leaderboard", "scores"):
        name = f"data/{table}.csv"
        assert (done.site / name).read_bytes() == (calm.site / name).read_bytes()


def test_an_undisturbed_month_takes_everybody_s_faults(outside: World, calm: Done) -> None:
    [edition] = [name for (name,) in rows(calm.warehouse, "SELECT edition FROM editions")]
    reports = rows(
        calm.warehouse, "SELECT agent, count(*) FROM reports GROUP BY ALL ORDER BY agent"
    )
    assert reports == [(agent, ARTICLES) for agent in sorted([BASELINE, *AGENTS])]
    assert value(calm.warehouse, "SELECT count(*) FROM calls WHERE status = 'ok'") > 100
    assert value(calm.warehouse, "SELECT count(*) FROM leaderboard WHERE provisional") == 0
    assert json.loads((calm.site / "site.json").read_text("utf-8"))["edition"] == edition


def test_killed_in_each_of_its_parts_it_becomes_the_same_month(
    outside: World, calm: Done, killed: Done, tmp_path: Path
) -> None:
    assert [kill.moment for kill in killed.kills] == [
        "collecting", "asking agents", "fetching", "judging",
    ]  # fmt: skip
    check_as_calm(killed, calm, outside, tmp_path)
