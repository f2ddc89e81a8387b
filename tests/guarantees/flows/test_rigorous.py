"""Rigorous Bench by the command: published entries to a board, and drafts to reviewed rubrics."""

import json
import shutil
from pathlib import Path

import pytest

from tasks.benchmarks.rigorous import QUERY, read_rigorous
from tasks.metrics.ratios import mean
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, evaluate, rows, value
from tests.servers.gemini import GeminiServer
from tests.tasks.drafted_articles import FACTS, edition
from tests.tasks.rigorous_cases import PUBLISHED, graded

pytestmark = [
    pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published data is not at hand"),
]
CHOSEN = {"edition": "rigorous", "protocols": ["rigorous"], "extractor": "offline"}
AGENTS = {"hasty": 5}
DOMAINS = ("Commonsense & Education", "Technology Intelligence")
"""Of each agent's reports, how many rubrics go to one that it meets."""


@pytest.fixture(scope="module")
def folder(judges: Path) -> Path:
    return judges.parent


@pytest.fixture
def warehouse(folder: Path, evergreen: Evergreen) -> Path:
    """Both published entries, with a report of each agent for each."""
    path = folder / "imported.duckdb"
    if path.exists():
        return path
    where = ("--edition", "rigorous", "--warehouse", path)
    for _ in range(2):
        code, _, said = evergreen("import", "rigorous", PUBLISHED, *where)
        assert (
            code,
            "47 rubrics of their own and 48 general ones, in 2 domains: " + ", ".join(DOMAINS)
            in said,
        ) == (0, True), said
    for agent, every in AGENTS.items():
        (folder / "report" / agent).mkdir(parents=True)
        for entry in read_rigorous(PUBLISHED, {}):
            text = "\n\n".join(("# A report", *(item.text for item in entry.items[::every]),
                                f"{entry.settings.focus_keywords[0]} again.",
                                f"See {entry.settings.trusted_links[0]}"))  # fmt: skip
            (folder / "report" / agent / f"{entry.key}.md").write_text(text, "utf-8")
    code, _, said = evergreen("import", "reports", folder / "report", *where)
    assert (code, "2 files of hasty: 2 new" in said) == (0, True), said
    return path


def judged(warehouse: Path, target: Path, server: GeminiServer) -> Path:
    """A copy of the warehouse, evaluated by this server's model."""
    path = Path(shutil.copy(warehouse, target))
    with at_hand(server, "gemini"):
        state = evaluate(path, "gemini", **CHOSEN)
    assert state.name == "Completed", state.message
    return path


def test_entries_become_a_board_with_a_breakdown_by_domain(
    warehouse: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    server = GeminiServer()
    path = judged(warehouse, tmp_path / "w.duckdb", server)
    asked = len(server.log.entries)
    assert asked == value(path, "SELECT count(*) FROM calls") == 78 + 10 + 65 + 10
    with at_hand(server, "gemini"):
        evaluate(path, "gemini", **CHOSEN)
    assert len(server.log.entries) == asked, "nothing is bought twice"

    code, said, _ = evergreen("leaderboard", "--edition", "rigorous", "--warehouse", path,
                              "--format", "json")  # fmt: skip
    board = {(row["agent"], row["metric"]): row for row in json.loads(said)}
    entries = read_rigorous(PUBLISHED, {})
    labels = rows(path, "SELECT agent, assignment, item, label::INT FROM verdicts "
                  "WHERE step IN ('query', 'general')")  # fmt: skip
    for agent, every in AGENTS.items():
        given = {(a, item): label for name, a, item, label in labels if name == agent}
        by_hand = mean(
            sum(given[e.key, i.item] for i in e.items if i.dimension == QUERY) / 30 for e in entries
        )
        assert board[agent, "rigorous_query_rubrics"]["value"] == pytest.approx(by_hand)
        for entry in entries:  # the oracle finds what stands there word for word, and more
            met = {i.item for i in entry.items if given[entry.key, i.item]}
            assert {i.item for i in entry.items[::every]} <= met
        least = mean(graded("\n".join(i.text for i in e.items[::every]), e.items)[0]
                     for e in entries)  # fmt: skip
        assert by_hand is not None
        assert least is not None
        assert by_hand >= least
    scores = rows(path, "SELECT value FROM scores WHERE agent = 'hasty' AND metric = "
                  "'rigorous_integrated'")  # fmt: skip
    assert board["hasty", "rigorous_integrated"]["value"] == pytest.approx(
        mean(score for (score,) in scores)
    )
    code, said, _ = evergreen("leaderboard", "--edition", "rigorous", "--protocol", "rigorous",
                              "--judge", "gemini", "--by", "theme", "--format", "json",
                              "--warehouse", path)  # fmt: skip
    themes = {(row["agent"], row["theme"]) for row in json.loads(said)}
    assert (code, themes) == (0, {(agent, d) for agent in AGENTS for d in DOMAINS})


def test_drafts_become_rubrics_once_somebody_has_reviewed_them(
    folder: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    server, drafts = GeminiServer(), tmp_path / "drafts"
    with edition(tmp_path) as store:
        path = Path(store.url)
    (tmp_path / "report" / "agent").mkdir(parents=True)
    text = "\n\n".join(FACTS[:10])
    (tmp_path / "report" / "agent" / "Red_Lighthouse.md").write_text(text, "utf-8")
    where = ("--edition", "e", "--warehouse", path)
    assert evergreen("import", "reports", tmp_path / "report", *where)[0] == 0
    ask = ("draft", "rubrics", *where, "--judge", "gemini", "--to", drafts)
    with at_hand(server, "gemini"):
        code, shown, said = evergreen(*ask)
        assert (code, "1 of 1 drafts" in said) == (0, True), said
        assert "Red_Lighthouse.yaml" in shown
        asked = len(server.log.entries)
        assert "all drafts are in" in evergreen(*ask)[2]
        assert len(server.log.entries) == asked
    draft = drafts / "Red_Lighthouse.yaml"
    take = ("draft", "import", draft, *where)
    assert "nobody has reviewed it" in evergreen(*take)[2]
    code, _, said = evergreen(*take, "--as-draft", "--general", PUBLISHED)
    assert (code, "63 rubrics, as a draft" in said) == (0, True), said
    with at_hand(server, "gemini"):
        evaluate(path, "gemini", edition="e", protocols=["rigorous"], extractor="offline")
    board = ("leaderboard", *where)
    assert "1 of e's assignments have rubrics that a model drafted" in " ".join(
        evergreen(*board)[2].split()
    )
    found = dict(rows(path, "SELECT metric, value FROM leaderboard WHERE protocol = 'rigorous'"))
    assert found["rigorous_query_rubrics"] == pytest.approx(10 / 15)

    text = draft.read_text("utf-8").replace("reviewed_by:", "reviewed_by: Ada")
    draft.write_text(text, "utf-8")
    code, _, said = evergreen(*take, "--general", PUBLISHED)
    assert (code, "63 rubrics, reviewed by Ada." in said) == (0, True), said
    assert "draft" not in evergreen(*board)[2]
