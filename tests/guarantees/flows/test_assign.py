"""Questions from articles to a leaderboard, by the command; the model is a test's server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.warehouse.truths import TRUTHS
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, rows, value
from tests.guarantees.tasks.test_questions import BRIDGES_ARTICLE, edition
from tests.servers.gemini import GeminiServer

ASSIGN = ("assign", "--edition", "e", "--protocol", "claim_discovery", "--judge", "gemini")


@pytest.fixture
def server(judges: Path) -> Iterator[GeminiServer]:
    found = GeminiServer()
    with at_hand(found, "gemini"):
        yield found


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    with edition(tmp_path, BRIDGES_ARTICLE) as store:
        return Path(store.url)


def test_questions_are_made_once_and_answers_to_them_ranked(
    warehouse: Path, server: GeminiServer, evergreen: Evergreen, tmp_path: Path
) -> None:
    code, out, err = evergreen("--warehouse", warehouse, *ASSIGN)
    assert code == 0, err
    assert rows(warehouse, "SELECT state FROM questions") == [("accepted",)]
    assert "accepted" in out
    asked = len(server.log.entries)
    assert asked == value(warehouse, "SELECT count(*) FROM calls")

    code, _, err = evergreen("--warehouse", warehouse, *ASSIGN)
    assert code == 0, err
    assert len(server.log.entries) == asked

    for agent, answers in _answers(warehouse).items():
        folder = tmp_path / agent
        folder.mkdir()
        for key, text in answers.items():
            (folder / f"{key}.md").write_text(text, "utf-8")
        code, _, err = evergreen(
            "--warehouse", warehouse, "import", "reports", folder, "--agent", agent,
            "--edition", "e",
        )  # fmt: skip
        assert code == 0, err
    code, _, err = evergreen(
        "--warehouse", warehouse, "evaluate", "--edition", "e", "--judge", "gemini",
        "--protocol", "claim_discovery",
    )  # fmt: skip
    assert code == 0, err
    found = rows(
        warehouse,
        "SELECT agent, metric, value FROM leaderboard WHERE protocol = 'claim_discovery'",
    )
    figures = {(agent, metric): figure for agent, metric, figure in found}
    assert figures["knowing", "claim_f1"] == 1
    assert figures["knowing", "claim_leakage"] == 0
    assert figures["leaking", "claim_f1"] == 1
    assert figures["leaking", "claim_leakage"] == 1
    assert figures["silent", "claim_f1"] == 0
    assert figures["silent", "answered_share"] == 0


def _answers(warehouse: Path) -> dict[str, dict[str, str]]:
    """By agent and question: what is true, the same from the banned article, a refusal."""
    truths = rows(
        warehouse,
        "SELECT assignment, truths, a.url FROM ground_truths "
        "JOIN assignments USING (edition, assignment) JOIN articles AS a USING (edition, article)",
    )
    answers: dict[str, dict[str, str]] = {"knowing": {}, "leaking": {}, "silent": {}}
    for key, stored, article_url in truths:
        claims = TRUTHS.validate_json(stored)
        for agent, source in (("knowing", "https://paper.example/"), ("leaking", article_url)):
            said = [
                {
                    "value": claim.value,
                    "sub_claims": [
                        {"name": below.name, "value": below.value} for below in claim.sub_claims
                    ],
                    "sources": [source],
                }
                for claim in claims
            ]
            block = json.dumps({"claims": said}, indent=2)
            answers[agent][key] = f"This is what I found:\n\n```json\n{block}\n```\n"
        answers["silent"][key] = "I could not find anything."
    return answers
