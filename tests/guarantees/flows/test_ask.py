"""Reports are bought over real sockets: each once, whatever goes wrong on the way."""

from pathlib import Path
from typing import Any

import pytest

from tests.changed_configs import change
from tests.flows.asked_runs import N_ARTICLES, ask, askable, serving_agent
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import rows, value
from tests.flows.test_ask import path, server_of
from tests.servers.jobs import JobScript

__all__ = ["path"]
TWO = ["openai", "perplexity"]
"""Of the kinds of agents; what each client does differently is for tests/tasks/agents."""
STATES = "SELECT state, count(*) FROM jobs GROUP BY ALL ORDER BY ALL"


@pytest.fixture(params=TWO)
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_missing_report_is_bought_once_and_a_second_run_asks_nothing(
    path: Path, agent: str
) -> None:
    server = server_of(agent, JobScript(polls=2))
    with serving_agent(server, agent):
        first = ask(path, agent)
        assert (first.name, server.n_made, server.n_bought_again) == ("Completed", N_ARTICLES, 0)
        looks = server.n_looks
        second = ask(path, agent)
    assert (second.name, server.n_made, server.n_looks) == ("Cached", N_ARTICLES, looks)
    assert rows(path, STATES) == [("done", N_ARTICLES)]
    reports = rows(path, f"SELECT text, status FROM reports WHERE agent = '{agent}'")
    assert len(reports) == N_ARTICLES
    assert all(text and status == "ok" for text, status in reports)
    n_traces = value(path, f"SELECT count(*) FROM search_traces WHERE agent = '{agent}'")
    assert n_traces == N_ARTICLES
    assert value(path, "SELECT count(*) FROM jobs WHERE cost_usd > 0") == N_ARTICLES


def test_a_calm_run_and_a_faulty_one_bring_the_same_reports(
    path: Path, sample: Path, tmp_path: Path, agent: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    faulty = askable(sample, other)
    script = JobScript(
        polls=3,
        posts=("rate_limit", "rate_limit_retry_after", "unavailable_503"),
        looks=("server_500", "html_502", "reset"),
        on_the_way=("pondering",),
        hint_seconds=0.05,
    )
    with serving_agent(server_of(agent), agent):
        assert ask(path, agent).name == "Completed"
    server = server_of(agent, script)
    with serving_agent(server, agent):
        assert ask(faulty, agent).name == "Completed"
    assert server.n_bought_again == 0
    # Gemini's sources are redirects at the server, which has another port each time.
    texts = (
        "SELECT assignment, regexp_replace(text, '127.0.0.1:[0-9]+', 'server', 'g') FROM reports "
        f"WHERE agent = '{agent}' ORDER BY 1"
    )
    assert rows(path, texts) == rows(faulty, texts)


def test_a_lost_answer_is_shown_resolved_by_a_person_and_bought_only_then(
    path: Path, evergreen: Evergreen
) -> None:
    server = server_of("openai", JobScript(posts=("lost",)))
    ask_openai = ("ask", "--agent", "openai", "--edition", "sample", "--warehouse", path)
    with serving_agent(server, "openai"):
        code, _, said = evergreen(*ask_openai)
        assert (code, server.n_made) == (1, N_ARTICLES)
        assert f"Still missing: {N_ARTICLES}." in said
        assert rows(path, STATES) == [("lost", N_ARTICLES)]
        code, _, said = evergreen(*ask_openai)
        assert (code, server.n_made) == (1, N_ARTICLES)
        assert "--ask-again" in said

        code, listed, _ = evergreen(
            "agents", "jobs", "--state", "lost", "--format", "csv", "--warehouse", path
        )
        names = [line.split(",")[0] for line in listed.splitlines()[1:]]
        assert (code, len(names)) == (0, N_ARTICLES)
        by_name = {job.name: job.job_id for job in server.jobs.values()}
        found, again, _ = names
        shown = evergreen("agents", "jobs", found, "--remote-id", by_name[found],
                          "--warehouse", path)  # fmt: skip
        assert shown[0] == 0, shown
        assert evergreen("agents", "jobs", again, "--ask-again", "--warehouse", path)[0] == 0
        code, _, _ = evergreen(*ask_openai)
    assert (code, server.n_made) == (1, N_ARTICLES + 1)
    assert rows(path, STATES) == [("abandoned", 1), ("done", 2), ("lost", 1)]


def test_one_agent_with_a_wrong_key_leaves_the_other_alone(
    path: Path, agent_configs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_stranger(settings: dict[str, Any]) -> None:
        known = settings["agents"]["openai"]
        settings["agents"]["stranger"] = known | {"ask": known["ask"] | {"key_env": "WRONG"}}

    monkeypatch.setenv("WRONG", "another-key")
    change(agent_configs / "agents.yaml", add_stranger)
    with serving_agent(server_of("openai"), "openai"):
        state = ask(path, "openai", "stranger")
    assert state.name == "Partial"
    assert "stranger 3 of 3 are left" in state.message
    assert "another-key" not in state.message
    assert rows(path, "SELECT agent, count(*) FROM reports WHERE source_path LIKE 'job %' "
                "GROUP BY ALL") == [("openai", N_ARTICLES)]  # fmt: skip


def test_a_budget_stops_before_it_is_overdrawn(path: Path) -> None:
    server = server_of("openai")
    with serving_agent(server, "openai"):
        state = ask(path, "openai", budget_usd=5.0, first=3)
        assert state.name == "Partial"
        assert "budget" in state.message
        spent = value(path, "SELECT sum(cost_usd) FROM jobs")
        assert 0 < spent <= 5.0
        assert ask(path, "openai", budget_usd=20.0).name == "Completed"
    assert server.n_bought_again == 0


def test_a_pilot_asks_only_for_the_first(path: Path) -> None:
    server = server_of("gemini")
    with serving_agent(server, "gemini"):
        assert ask(path, "gemini", first=1).name == "Completed"
    assert server.n_made == 1


def test_an_agent_that_asks_back_gets_the_standard_reply(path: Path) -> None:
    question = "Could you clarify which one you mean? Please confirm."
    for agent in ("gemini", "openai"):
        server = server_of(agent, JobScript(asks_first=question))
        with serving_agent(server, agent):
            assert ask(path, agent, first=1).name == "Completed"
        assert server.n_made == 2
        turns = rows(path, f"SELECT turn, state FROM jobs WHERE agent = '{agent}' ORDER BY turn")
        assert turns == [(1, "done"), (2, "done")]
        text = value(path, f"SELECT text FROM reports WHERE agent = '{agent}' AND "
                           "source_path LIKE 'job %'")  # fmt: skip
        assert question not in text


def test_an_agent_asked_by_hand_finds_its_prompts_in_a_folder_and_leaves_its_reports_there(
    path: Path, agent_configs: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    folder = tmp_path / "drop"
    by_hand = {"name": "By hand", "ask": {"kind": "file_drop", "folder": str(folder)}}
    change(agent_configs / "agents.yaml", lambda s: s["agents"].update(by_hand=by_hand))
    ask_by_hand = ("ask", "--agent", "by_hand", "--edition", "sample", "--warehouse", path)
    code, _, said = evergreen(*ask_by_hand)
    assert code == 1
    assert f"{N_ARTICLES} prompts are in" in said
    prompts = sorted((folder / "prompts").iterdir())
    assert len(prompts) == N_ARTICLES
    assert "Write an article" in prompts[0].read_text("utf-8")
    for prompt in prompts[:2]:
        (folder / prompt.name).write_text(
            "# An article\n\nIt is [1].\n\n[1] https://a.org/b", "utf-8"
        )
    (folder / "stranger.pdf").write_bytes(b"%PDF-1.4 nothing")
    code, _, said = evergreen(*ask_by_hand)
    assert code == 1
    assert "stranger.pdf" in said
    assert len(list((folder / "prompts").iterdir())) == 1
    assert value(path, "SELECT count(*) FROM reports WHERE agent = 'by_hand'") == 2


def test_an_agent_named_twice_is_asked_once(path: Path) -> None:
    server = server_of("openai")
    with serving_agent(server, "openai"):
        assert ask(path, "openai", "openai").name == "Completed"
    assert (server.n_made, server.n_bought_again) == (N_ARTICLES, 0)
