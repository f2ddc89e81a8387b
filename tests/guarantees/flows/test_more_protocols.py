"""RACE, FACT and a rubric of one's own, from files to the comparison, over real sockets."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.configuration.rubrics import RUBRICS_VARIABLE
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, configured, evaluate, rows, value, write_configs
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.tasks.benchmarks.deepresearch_copy import REFERENCE, write_copy

RUBRIC = """
title: Mine
items:
  - {id: year, text: It says 1698., allowed: [0, 1, 2], weight: 3}
  - {id: storm, text: The first tower was swept away by a storm., check: key_point}
  - {id: short, text: It is short., check: words, at_most: 500}
"""


@pytest.fixture(scope="module")
def folder(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Holds `configs`, `w.duckdb` with a small edition, and `mine.yaml`."""
    folder = tmp_path_factory.mktemp("more")
    with configured(write_configs(folder)), pytest.MonkeyPatch.context() as patch:
        patch.setenv(RUBRICS_VARIABLE, "")
        shutil.copy(small, folder / "w.duckdb")
        (folder / "mine.yaml").write_text(RUBRIC, "utf-8")
        yield folder


def test_deepresearch_bench_comes_in_and_is_judged_by_its_own_criteria(
    folder: Path, evergreen: Evergreen
) -> None:
    path, copy = folder / "w.duckdb", write_copy(folder / "clone")
    code, _, said = evergreen("import", "drb", copy, "--warehouse", path)
    assert code == 0, said
    assert "deepresearch_bench: 3 tasks (3 new), 24 criteria, 2 references." in said
    assert "1 without a reference: RACE cannot score them (task-51)." in said
    reports = folder / "reports"
    for agent, text in (("same", REFERENCE), ("short", "It burned down.")):
        (reports / agent).mkdir(parents=True)
        for key in ("task-1", "task-2", "task-51"):
            (reports / agent / f"{key}.md").write_text(text, "utf-8")
    edition = ("--edition", "deepresearch_bench", "--warehouse", path)
    code, _, said = evergreen("import", "reports", reports, *edition)
    assert code == 0, said

    server, chosen = GeminiServer(), {"edition": "deepresearch_bench", "extractor": "offline"}
    with at_hand(server, "gemini"):
        state = evaluate(path, "gemini", **chosen)
        assert state.name == "Completed", state.message
        asked = len(server.log.entries)
        assert evaluate(path, "gemini", **chosen).name == "Cached"
        assert len(server.log.entries) == asked, "again nothing is asked"
    found = dict(rows(path, "SELECT agent, value FROM leaderboard WHERE metric = 'race_overall'"))
    assert found["same"] == pytest.approx(0.5), "the reference itself is as good as it"
    assert found["short"] < 0.4
    assert value(path, "SELECT count(*) FROM verdicts WHERE protocol = 'race'") == 2 * 2 * 8 * 2
    assert {protocol for (protocol,) in rows(
        path, "SELECT DISTINCT protocol FROM scores WHERE edition = 'deepresearch_bench'"
    )} == {"race", "fact"}  # fmt: skip


def test_on_articles_all_three_are_judged_and_compared(folder: Path, evergreen: Evergreen) -> None:
    path = folder / "w.duckdb"
    chosen = {"protocols": ["race", "fact", str(folder / "mine.yaml"), "wiki_fact"]}
    server = OpenAiServer(faults=FaultPlan(("truncated_json", "missing_item"), share=0.3))
    with at_hand(server, "openai"):
        state = evaluate(path, "openai", **chosen)
        assert state.name == "Completed", state.message
    steps = {
        (protocol, step): n
        for protocol, step, n in rows(
            path, "SELECT protocol, step, count(*) FROM verdicts WHERE judge = 'openai' AND "
            "status = 'ok' AND protocol <> 'wiki_fact' GROUP BY ALL",
        )
    }  # fmt: skip
    assert steps["race", "report"] == steps["race", "reference"] == 2 * 12
    assert {key for key in steps if key[0] == "mine"} == {
        ("mine", "items"), ("mine", "points"), ("mine", "counted"),
    }  # fmt: skip
    assert steps["mine", "counted"] == 2
    assert steps["fact", "citation"] > 2

    arguments = ("--edition", "sample", "--judge", "openai", "--warehouse", path)
    code, out, said = evergreen("compare", "protocols", *arguments, "--format", "json")
    assert code == 0, said
    told = json.loads(out)
    assert {row["protocol"] for row in told["agents"]} == {"race", "fact", "mine", "wiki_fact"}
    assert any("in part counts as supported in FACT" in remark for remark in told["remarks"])
    code, out, said = evergreen(
        "compare", "protocols", *arguments, "--protocol", "race", "--protocol", "fact"
    )
    assert code == 0, said
    assert "Effective citations" in out
    code, out, _ = evergreen("leaderboard", "--edition", "sample", "--warehouse", path)
    assert "sample · Mine ·" in out
    code, out, _ = evergreen("status", "--edition", "sample", "--judge", "openai",
                             "--warehouse", path)  # fmt: skip
    assert "verdicts mine" in out

    (folder / "mine.yaml").write_text(RUBRIC.replace("weight: 3", "weight: 1"), "utf-8")
    with at_hand(server, "openai"):
        asked = len(server.log.entries)
        assert evaluate(path, "openai", **chosen).name == "Completed"
        assert len(server.log.entries) == asked, "the ledger knows the answers"
    assert value(path, "SELECT count(DISTINCT protocol_version) FROM cells "
                 "WHERE protocol = 'mine'") == 2  # fmt: skip
