"""DeepResearchGym end to end: its queries, asked and scored, and key points of our own editions."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tasks.benchmarks.drgym import read_drgym
from tasks.benchmarks.research import PublishedQuery
from tests.flows.asked_runs import KINDS as AGENT_KINDS
from tests.flows.asked_runs import ask, serving_agent
from tests.flows.llm_runs import KINDS, at_hand, evaluate, rows, value
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.oracle_words import MOST

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "drgym"
N_QUERIES = 10
GYM = {"edition": "drgym", "protocols": ["research_gym"], "extractor": "offline"}
WORD = re.compile(r"\w+")
KPR = (
    "SELECT assignment, value, n_items, reason FROM scores "
    "WHERE metric = '{}' AND judge <> 'offline' ORDER BY assignment"
)
FAULTS = ("rate_limit", "server_500", "truncated_json", "empty_200", "wrong_enum", "missing_item")


def half_of(query: PublishedQuery) -> list[str]:
    """Every other key point."""
    return [text for text, _ in (query.points or ())[::2]]


def told_apart(query: PublishedQuery) -> bool:
    """Whether none of the other half would be taken for one of this one by its words."""
    half = half_of(query)
    others = [text for text, _ in query.points or () if text not in half]
    return not any(_share(other, said) >= MOST for other in others for said in half)


def _share(point: str, said: str) -> float:
    words = {word for word in WORD.findall(point.lower()) if not word[0].isdigit()}
    return len(words & {*WORD.findall(said.lower())}) / len(words) if words else 0.0


def report_of(query: PublishedQuery) -> str:
    """A report that makes half of the key points, a sentence each, and cites nothing."""
    said = [point.replace(". ", "; ").rstrip(".") + "." for point in half_of(query)]
    return f"# {query.query}\n\n" + "\n\n".join(said or ["Nothing is known of it."]) + "\n"


class Gym(NamedTuple):
    path: Path
    queries: dict[str, PublishedQuery]


@pytest.fixture(scope="module")
def gym(judges: Path, tmp_path_factory: pytest.TempPathFactory) -> Gym:
    """An edition of real queries with reports that make a known half of their key points; three of
    the queries have none. Ready for a judge."""
    if not SHARED.is_dir():
        pytest.skip("shared data not mounted")
    every = read_drgym(SHARED).queries
    none = [query for query in every if query.points == ()][:3]
    some = [query for query in every if query.points and told_apart(query)]
    chosen = {query.key: query for query in [*none, *some[: N_QUERIES - len(none)]]}
    folder = tmp_path_factory.mktemp("gym")
    copy, reports = folder / "drgym", folder / "reports" / "halves"
    copy.mkdir()
    reports.mkdir(parents=True)
    for name in ("queries.jsonl", "key_points.jsonl"):
        lines = (SHARED / name).read_text("utf-8").split("\n")
        kept = [line for line in lines if line and json.loads(line)["id"] in chosen]
        (copy / name).write_text("\n".join(kept), "utf-8")
    for key, query in chosen.items():
        (reports / f"{key}.md").write_text(report_of(query), "utf-8")
    path = folder / "gym.duckdb"
    imported(path, copy, reports)
    assert evaluate(path, "offline", **GYM).name == "Completed"
    return Gym(path, chosen)


def imported(path: Path, copy: Path, reports: Path) -> None:
    from flows.cli.import_queries import import_drgym
    from tasks.imports.matching import match_reports
    from tasks.imports.reports import import_reports
    from tasks.warehouse.location import parse_location
    from tasks.warehouse.store import open_warehouse

    import_drgym(copy, "drgym", None, warehouse=parse_location(path))
    with open_warehouse(path) as warehouse:
        summary = import_reports(warehouse, match_reports(warehouse, reports, "drgym", "halves"))
    assert {outcome.outcome for outcome in summary.outcomes} == {"new"}
    assert len(summary.outcomes) == N_QUERIES


def known_recall(gym: Gym) -> dict[str, float]:
    """Of the queries that have key points."""
    return {
        key: len(half_of(query)) / len(query.points)
        for key, query in gym.queries.items()
        if query.points
    }


def judged(gym: Gym, folder: Path, kind: str, **faults: Any) -> tuple[Path, ModelServer, Any]:
    path = Path(shutil.copy(gym.path, folder / f"{kind}.duckdb"))
    server = KINDS[kind][1](faults=FaultPlan(**faults))
    with at_hand(server, kind):
        state = evaluate(path, kind, **GYM)
        asked = len(server.log.entries)
        assert evaluate(path, kind, **GYM).name == "Cached"
        assert len(server.log.entries) == asked, "a second run asks nothing"
    return path, server, state


def test_the_recall_of_reports_that_make_half_of_the_key_points_is_that_half(
    gym: Gym, tmp_path: Path
) -> None:
    path, server, state = judged(gym, tmp_path, "openai")
    assert state.name == "Completed", state.message
    expected = known_recall(gym)
    found = {key: share for key, share, _, _ in rows(path, KPR.format("kpr"))}
    assert found == {key: expected.get(key) for key in gym.queries}
    assert len(expected) == N_QUERIES - 3
    assert {share for _, share, _, _ in rows(path, KPR.format("kpc"))} == {0.0, None}
    # A point a call, and a call for each of the two ratings.
    n_points = sum(len(query.points or ()) for query in gym.queries.values())
    assert server.log.summary()["questions"] == n_points + 2 * N_QUERIES
    assert server.log.n_bought_again == 0
    board = "SELECT value, n_reports, provisional FROM leaderboard WHERE judge = '{}' AND metric = "
    mean = sum(expected.values()) / len(expected)
    ((kpr, n_reports, provisional),) = rows(path, board.format("openai") + "'kpr'")
    assert (kpr, n_reports, provisional) == (pytest.approx(mean), len(expected), False)
    ((published, n_published, _),) = rows(path, board.format("openai") + "'kpr_published'")
    assert published == pytest.approx(sum(expected.values()) / N_QUERIES)
    assert n_published == N_QUERIES


def test_faults_that_pass_leave_the_recall_as_it_is(gym: Gym, tmp_path: Path) -> None:
    faults = {"faults": FAULTS, "in_turn": True, "hint_seconds": 0.05}
    path, server, state = judged(gym, tmp_path, "gemini", **faults)
    assert state.name == "Completed", state.message
    assert set(server.log.summary()["faults"]) == set(FAULTS)
    expected = known_recall(gym)
    found = {key: share for key, share, _, _ in rows(path, KPR.format("kpr"))}
    assert found == {key: expected.get(key) for key in gym.queries}
    assert server.log.n_bought_again == 0


def test_the_queries_of_an_imported_edition_can_be_asked_and_evaluated(
    gym: Gym, agent_configs: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(gym.path, tmp_path / "asked.duckdb"))
    server = AGENT_KINDS["openai"][1]()
    keys = sorted(gym.queries)[:2]
    with serving_agent(server, "openai"):
        state = ask(path, "openai", edition="drgym", assignments=keys)
    assert state.name == "Completed", state.message
    prompts = rows(path, "SELECT assignment, prompt FROM jobs ORDER BY assignment")
    assert [key for key, _ in prompts] == keys
    for key, prompt in prompts:
        assert gym.queries[key].query in prompt
    assert evaluate(path, "offline", **GYM, agents=["openai"]).name == "Completed"
    assert value(path, "SELECT count(*) FROM scores WHERE agent = 'openai' AND metric = 'kpr'") == 2
