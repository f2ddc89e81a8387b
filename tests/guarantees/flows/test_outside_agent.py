"""A kind of agents from outside is one file and one line: its reports are asked for, judged,
ranked and published as any other's."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.agents.registry import find_kind
from tasks.configuration import extensions
from tasks.publishing.site import build_site
from tasks.warehouse.reader import open_for_reading
from tests.changed_configs import copy_configs
from tests.flows.asked_runs import KEY, N_ARTICLES, QUICK, agents_of, ask, askable
from tests.flows.llm_runs import evaluate, rows
from tests.servers.agent_base import AgentServer
from tests.servers.http import Response, json_response
from tests.servers.serving import serving

LINE = "encyclopedist = tests.guarantees.flows.outside_agent:EncyclopedistClient"
"""The line of its package's metadata that registers it."""
PAGE = "https://met.org/only"


class EncyclopedistServer(AgentServer):
    path = "/write"

    def answer(self, body: dict[str, Any]) -> Response:
        text = f"# {body['article']}\n\nVenus is the second planet from the Sun. [1]\n"
        return json_response({"text": text, "pages": [PAGE], "dollars": 0.25})


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Its package, as pip would have installed it."""
    metadata = tmp_path / "site-packages" / "encyclopedist-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: encyclopedist\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[evergreen.agents]\n{LINE}\n", "utf-8")
    monkeypatch.syspath_prepend(metadata.parent)
    for cached in (extensions._find_entry_points, find_kind):
        cached.cache_clear()
    yield
    for cached in (extensions._find_entry_points, find_kind):
        cached.cache_clear()


@pytest.mark.usefixtures("installed")
def test_a_report_of_a_kind_from_outside_comes_through_to_the_site(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, server = askable(sample, tmp_path), EncyclopedistServer(faults=["429"])
    monkeypatch.setenv(KEY, "test-key")
    with serving(server) as address:
        of_it = {"kind": "encyclopedist", "key_env": KEY, "settings": {"url": f"{address}/write"},
                 "limits": QUICK, "repeatable": True}  # fmt: skip
        entry = {"name": "The Encyclopedist", "ask": of_it}
        with agents_of(copy_configs(tmp_path, agents=lambda s: s["agents"].update(wise=entry))):
            assert ask(path, "wise").name == "Completed"
            assert evaluate(path, "offline", protocols=["wiki_fact"]).name == "Completed"
            with open_for_reading(path) as source:
                build_site(source, "sample", tmp_path / "site")
    assert server.bought == N_ARTICLES
    jobs = "SELECT state, kind, cost_usd, cost_source, searches, parameters FROM jobs"
    for state, kind, cost, cost_source, searches, parameters in rows(path, jobs):
        assert (state, kind, cost, cost_source) == ("done", "encyclopedist", 0.25, "interface")
        assert searches == 1
        assert json.loads(parameters)["settings"] == of_it["settings"]
    cited = "SELECT DISTINCT url FROM citations WHERE agent = 'wise'"
    assert rows(path, cited) == [(PAGE,)]
    ranked = "SELECT count(*) FROM leaderboard WHERE agent = 'wise' AND value IS NOT NULL"
    assert rows(path, ranked) != [(0,)]
    assert "The Encyclopedist" in (tmp_path / "site" / "index.html").read_text("utf-8")
    written = [file for file in (tmp_path / "site").rglob("*.html")
               if "second planet from the Sun" in file.read_text("utf-8")]  # fmt: skip
    assert len(written) >= N_ARTICLES
