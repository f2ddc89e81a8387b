"""DeepResearch Bench II from the published file to its published tables, over real sockets."""

import csv
import json
from pathlib import Path

import pytest

from tasks.benchmarks.drb2 import read_drb2
from tasks.metrics.ratios import mean
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, evaluate, rows
from tests.servers.gemini import GeminiServer
from tests.tasks.rubric_reports import TASKS, grades, markdown, pdf, sentences

pytestmark = [
    pytest.mark.skipif(not TASKS.exists(), reason="the published data is not at ../shared/data"),
]
N_TASKS = 6
CHOSEN = {"edition": "drb2", "protocols": ["rubric_bench"]}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The first tasks of the published file."""
    path = tmp_path / "tasks_and_rubrics.jsonl"
    lines = TASKS.read_text("utf-8").split("\n")
    path.write_text("\n".join(lines[:N_TASKS]), "utf-8")
    return path


def test_tasks_come_in_are_judged_and_go_out_as_published(
    judges: Path, tmp_path: Path, published: Path, evergreen: Evergreen
) -> None:
    path = tmp_path / "w.duckdb"
    code, _, said = evergreen("import", "drb2", published, "--edition", "drb2", "--warehouse", path)
    assert (code, f"{N_TASKS} tasks ({N_TASKS} new) in en, zh" in said) == (0, True)
    tasks = read_drb2(published)
    for name in ("as_markdown", "as_pdf"):
        (tmp_path / "report" / name).mkdir(parents=True)
    for task in tasks:
        written = sentences(task)
        (tmp_path / f"report/as_markdown/{task.key}.md").write_text(
            markdown(task, written), "utf-8"
        )
        (tmp_path / f"report/as_pdf/{task.key}.pdf").write_bytes(pdf(task, written))
    code, _, said = evergreen(
        "import", "reports", tmp_path, "--edition", "drb2", "--warehouse", path
    )
    assert (code, f"{2 * N_TASKS} files of as_markdown, as_pdf: {2 * N_TASKS} new" in said) == (
        0,
        True,
    ), said

    server = GeminiServer()
    with at_hand(server, "gemini"):
        state = evaluate(path, "gemini", **CHOSEN)
        assert state.name == "Completed", state.message
        asked = len(server.log.entries)
        assert evaluate(path, "gemini", **CHOSEN).name == "Cached"
        assert len(server.log.entries) == asked
    batches = sum(-(-len(task.items) // 50) for task in tasks)
    assert asked == 2 * batches

    known = {(task.key, item): g for task in tasks
             for item, g in grades(task, sentences(task)).items()}  # fmt: skip
    found = {
        agent: {(assignment, item): label for assignment, item, label in rows(
            path, "SELECT assignment, item, label FROM verdicts WHERE step IN ('info_recall', "
            f"'analysis', 'presentation') AND agent = '{agent}'")}
        for agent in ("as_markdown", "as_pdf")
    }  # fmt: skip
    assert found["as_markdown"] == known
    # An address that print breaks over two lines is none any more.
    other = {key for key, label in found["as_pdf"].items() if label != known[key]}
    assert found["as_pdf"].keys() == known.keys()
    assert len(other) <= 3
    assert {(known[key], found["as_pdf"][key]) for key in other} <= {("-1", "1")}

    totals = dict(rows(path, "SELECT agent, value FROM leaderboard WHERE metric = 'rubric_total'"))
    by_hand = mean(
        sum(known[task.key, item.item] == "1" for item in task.items) / len(task.items)
        for task in tasks
    )
    assert totals["as_markdown"] == by_hand
    checks = rows(path, "SELECT metric, value FROM leaderboard WHERE agent = 'as_pdf' AND metric "
                  "IN ('rubric_evidence_not_found', 'rubric_cut') ORDER BY metric")  # fmt: skip
    assert checks == [("rubric_cut", 0.0), ("rubric_evidence_not_found", 0.0)]

    where = ("--edition", "drb2", "--warehouse", path)
    out = tmp_path / "out"
    code, _, said = evergreen("export", "drb2", *where, "--judge", "gemini", "--to", out)
    assert (code, f"{2 * N_TASKS} reports of 2 agents" in said) == (0, True)
    table = list(csv.reader((out / "agg_scores_total.csv").open(newline="", encoding="utf-8")))
    assert table[0][:3] == ["idx", "language", "theme"]
    assert (len(table), table[-1][0]) == (N_TASKS + 2, "avg")
    assert table[-1][table[0].index("as_markdown")] == f"{by_hand:.6f}"
    lines = [json.loads(line) for line in (out / "result.jsonl").open(encoding="utf-8")]
    assert [(line["model"], line["idx"]) for line in lines[: N_TASKS + 1]] == [
        *(("as_markdown", idx) for idx in range(1, N_TASKS + 1)), ("as_pdf", 1),
    ]  # fmt: skip
    texts = {item.text: known[tasks[0].key, item.item] for item in tasks[0].items}
    scores = lines[0]["result"]["scores"]
    assert {t: str(s["score"]) for part in scores.values() for t, s in part.items()} == texts

    options = (*where, "--protocol", "rubric_bench", "--judge", "gemini", "--format", "json")
    code, said, _ = evergreen("leaderboard", *options, "--by", "language")
    shown = {(row["agent"], row["language"], row["metric"]): row for row in json.loads(said)}
    chinese = [task for task in tasks if task.settings.language == "zh"]
    assert shown["as_markdown", "zh", "rubric_total"]["n_reports"] == len(chinese)
    code, said, _ = evergreen("calls", *options, "--by", "report")
    taken = {row["assignment"]: row for row in json.loads(said) if row["agent"] == "as_markdown"}
    summary = lines[0]["result"]["usage_summary"]
    assert taken["idx-1"]["tokens"] == summary["total_tokens"] > 0
