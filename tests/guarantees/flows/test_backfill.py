"""An agent brought into an edition that others are in already."""

from pathlib import Path

import duckdb
import pytest

from tasks.editions.names import UnknownName
from tasks.warehouse.rows import Row
from tasks.warehouse.store import Warehouse
from tasks.warehouse.tables import TABLES
from tests.flows.asked_runs import KINDS, askable, backfill, serving_agent
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import evaluate, rows, value
from tests.servers.gemini import GeminiServer
from tests.servers.serving import serving

AGENT = "openai"
N_ARTICLES = 1  # of the small edition
COMPARES_ALL = {"rank_from", "rank_to", "scores_sha", "n_pairs", "p_adjusted"}


@pytest.fixture(scope="module")
def evaluated(small: Path, agent_configs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small edition with prompts, and every protocol judged that can be."""
    path = askable(small, tmp_path_factory.mktemp("evaluated"))
    assert evaluate(path, "offline").name == "Completed"
    return path


def of_others(path: Path) -> dict[str, bytes]:
    """Every table's rows that belong to no or another agent, as bytes; what compares agents with
    all others (places, corrections for the number of pairs) is left out."""

    def table(model: type[Row]) -> bytes:
        whose = [
            f"{name} <> '{AGENT}'" for name in ("agent", "other") if name in model.model_fields
        ]
        where = f"WHERE {' AND '.join(whose)}" if whose else ""
        columns = ", ".join(name for name in model.model_fields if name not in COMPARES_ALL)
        sql = f"SELECT {columns} FROM {model.table} {where} ORDER BY ALL"
        return connection.sql(sql).pl().write_csv().encode()

    with duckdb.connect(str(path), read_only=True) as connection:
        return {model.table: table(model) for model in TABLES}


def test_backfilling_an_agent_adds_its_rows_and_touches_no_other(evaluated: Path) -> None:
    before = of_others(evaluated)
    n_cells = value(evaluated, "SELECT count(*) FROM cells")
    server = KINDS[AGENT][1]()
    with serving_agent(server, AGENT):
        state = backfill(evaluated, AGENT, editions=["sample"])
    assert state.name == "Completed", state.message
    after = of_others(evaluated)
    assert {name for name in before if before[name] != after[name]} == set()
    ours = rows(evaluated, f"SELECT protocol, count(*) FROM cells WHERE agent = '{AGENT}' "
                           "GROUP BY ALL")  # fmt: skip
    assert ours == [("wiki_fact", N_ARTICLES)]
    assert value(evaluated, "SELECT count(*) FROM cells") == n_cells + N_ARTICLES
    ranked = "SELECT DISTINCT agent FROM leaderboard WHERE value IS NOT NULL ORDER BY agent"
    assert (AGENT,) in rows(evaluated, ranked)

    jobs = server.n_made
    with serving_agent(server, AGENT):
        again = backfill(evaluated, AGENT)
    assert (again.name, server.n_made) == ("Cached", jobs)
    assert of_others(evaluated) == after


@pytest.mark.parametrize("decider", ["judge", "extractor"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [("nobody", "no judge 'nobody'"), ("gemini-3.8-flash", "has no key")],
)
def test_nothing_is_asked_for_that_nobody_could_judge(
    small: Path, agent_configs: Path, tmp_path: Path, decider: str, name: str, reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    path, server = askable(small, tmp_path), KINDS[AGENT][1]()
    with serving_agent(server, AGENT):
        state = backfill(path, AGENT, editions=["sample"], **{decider: name})
    assert reason in state.message
    assert server.n_made == 0


def test_a_model_judge_extracts_what_the_agent_wrote_once_a_budget_permits_it(
    small: Path, agent_configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, server, judge = askable(small, tmp_path), KINDS[AGENT][1](), GeminiServer()
    chosen = {"editions": ["sample"], "judge": "gemini-3.8-flash", "protocols": ["wiki_fact"],
              "fetch_pages": True}  # fmt: skip
    # The stage that fetches pages extracts the claims first; here it finds no page to fetch.
    monkeypatch.setattr("tasks.pages.find_pending_pages", lambda *_, **__: [])
    monkeypatch.setattr("flows.fetch.find_pending_pages", lambda *_, **__: [])
    monkeypatch.setattr("flows.fetch.describe_open_pages", lambda *_: None)
    with serving_agent(server, AGENT), serving(judge) as address:
        monkeypatch.setenv("GEMINI_API_KEY", "test-key")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", address)
        state = backfill(path, AGENT, **chosen)
        assert "would extract the facts and claims of sample, and there is no" in state.message
        assert (server.n_made, judge.log.entries) == (0, [])
        state = backfill(path, AGENT, budget_usd=1000.0, **chosen)
        assert state.name == "Completed", state.message
    by = f"SELECT DISTINCT source FROM extractions WHERE agent = '{AGENT}'"
    assert rows(path, by) == [("judge",)]
    bought = "SELECT count(*) FROM calls WHERE protocol = 'extraction'"
    assert value(path, bought) == N_ARTICLES  # the others' offline extraction is kept


def test_no_later_stage_is_begun_where_one_has_failed(
    small: Path, agent_configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(warehouse: Warehouse, edition: str) -> None:
        raise UnknownName("the pages cannot be told")

    path = askable(small, tmp_path)
    monkeypatch.setattr("flows.fetch.check_edition", broken)
    with serving_agent(KINDS[AGENT][1](), AGENT):
        state = backfill(path, AGENT, editions=["sample"], fetch_pages=True)
    assert "the pages cannot be told" in state.message
    assert value(path, f"SELECT count(*) FROM reports WHERE agent = '{AGENT}'") == N_ARTICLES
    assert value(path, f"SELECT count(*) FROM cells WHERE agent = '{AGENT}'") == 0


def test_the_command_backfills_and_says_what_it_would_cost_first(
    sample: Path, agent_configs: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    path = askable(sample, tmp_path)
    server = KINDS["gemini"][1]()
    with serving_agent(server, "gemini"):
        told = evergreen("backfill", "--agent", "gemini", "--estimate", "--warehouse", path)
        assert (told[0], server.n_made) == (0, 0)
        assert "usd_at_most" in told[1]
        code, answers, said = evergreen(
            "backfill", "--agent", "gemini", "--edition", "sample", "--no-fetch", "--protocol",
            "wiki_fact", "--budget", "30", "--first", "2", "--warehouse", path,
        )  # fmt: skip
        assert code == 0, said
        assert server.n_made == 2
        assert "2 reports received, $" in said
        assert "gemini" in answers
        code, _, said = evergreen(
            "backfill", "--agent", "gemini", "--edition", "nowhere", "--warehouse", path
        )
        assert code == 1
        assert "nowhere" in said


def test_the_free_baseline_joins_an_edition_with_another_and_is_scored_like_any_other(
    small: Path, agent_configs: Path, tmp_path: Path
) -> None:
    path = askable(small, tmp_path)
    chosen = {"editions": ["sample"], "protocols": ["wiki_fact"]}
    server = KINDS["gemini"][1]()
    with serving_agent(server, "gemini"):
        state = backfill(path, "lexical_baseline", "gemini", **chosen)
    assert state.name == "Completed", state.message
    judged = rows(path, "SELECT DISTINCT agent FROM cells WHERE agent IN "
                        "('lexical_baseline', 'gemini')")  # fmt: skip
    assert (server.n_made, len(judged)) == (N_ARTICLES, 2)
    reports = rows(path, "SELECT text FROM reports WHERE agent = 'lexical_baseline'")
    assert len(reports) == N_ARTICLES
    assert all("[1]" in text and "## References" in text for (text,) in reports)
    scored = value(
        path,
        "SELECT count(*) FROM scores WHERE agent = 'lexical_baseline' "
        "AND metric = 'coverage_wiki_soft' AND value > 0",
    )
    assert scored == N_ARTICLES
    searched = "SELECT count(*) FROM search_traces WHERE agent = 'lexical_baseline'"
    assert value(path, searched) == N_ARTICLES
    assert value(path, "SELECT sum(cost_usd) FROM jobs WHERE agent = 'lexical_baseline'") == 0.0
