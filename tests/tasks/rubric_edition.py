"""A small edition of DeepResearch Bench II with two agents' reports, judged at a model server."""

import asyncio
import json
from pathlib import Path
from typing import Any

from tasks.benchmarks.drb2 import PROTOCOL, SET, read_drb2
from tasks.imports.matching import match_reports
from tasks.imports.queries import import_queries
from tasks.imports.reports import import_reports
from tasks.judges.llm.judge import LlmJudge
from tasks.judging.cases import load_cases
from tasks.judging.cells import plan_cells
from tasks.protocols.registry import get_protocol
from tasks.scores import compute_scores
from tasks.verdicts import write_cell
from tasks.warehouse.calls import Call
from tasks.warehouse.results import Score
from tasks.warehouse.rows import Report, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.servers.gemini import GeminiServer
from tests.tasks.judges.recording import at_server
from tests.tasks.made_rows import a_row
from tests.tasks.models.scripted import MemoryLedger

JUDGE = "a_judge"
EDITION = "drb2"
BLOCKED = {"title": "The source", "authors": ["Wu"], "urls": ["https://blocked.org/1"]}


def row(idx: int, language: str = "en", theme: str = "Health", **more: Any) -> dict[str, Any]:
    """A line of the published file."""
    rubric = {
        "info_recall": [f"Water boils at {idx} degrees there.", "Snow fell in March."],
        "analysis": ["Pressure explains the boiling."],
        "presentation": ["A table lists the stations."],
    }
    return {
        "id": f"task{idx}", "idx": idx, "language": language, "theme": theme, "description": "d",
        "prompt": f"Why does water boil? ({idx})\n\nRead no source.",
        "content": {"task": f"Why does water boil? ({idx})", "rubric": rubric, "blocked": BLOCKED},
    } | more  # fmt: skip


def with_rubric(line: dict[str, Any], **rubric: Any) -> dict[str, Any]:
    """The line with other items in some dimensions."""
    content = line["content"]
    return line | {"content": content | {"rubric": content["rubric"] | rubric}}


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), "utf-8")
    return path


TWICE = ["Snow fell in March.", "Rain fell in June.", "Snow fell in March."]
LINES = (
    row(2, "zh", "Law, & order"),
    row(10, "en", "Health"),
    with_rubric(row(3, "en", "Health"), info_recall=TWICE),
)
REPORTS = {
    ("all", "idx-2"): "Water boils at 2 degrees there. Snow fell in March. Pressure explains the "
    "boiling. A table lists the stations.",
    ("all", "idx-3"): "Snow fell in March. Pressure explains the boiling.",
    ("all", "idx-10"): "Water boils at 10 degrees there (https://blocked.org/1). It is hot.",
    ("few", "idx-2"): "Snow fell in March.",
    ("few", "idx-10"): "",
}
"""Of idx-3 there is one of the first agent alone; the last one is empty."""


def judged_edition(
    warehouse: Warehouse, folder: Path, server: GeminiServer | None = None
) -> MemoryLedger:
    """Import, judge and score; the ledger of what was asked, which is in the warehouse too."""
    queries = read_drb2(write_lines(folder / "tasks.jsonl", *LINES))
    import_queries(warehouse, SET, queries, EDITION)
    reports = [
        a_row(Report, edition=EDITION, agent=agent, assignment=assignment, text=text,
              text_sha=content_sha(text), status="ok" if text else "empty")
        for (agent, assignment), text in REPORTS.items()
    ]  # fmt: skip
    warehouse.write(Change(Report, reports))
    ledger = MemoryLedger()
    at_server(server or GeminiServer(), lambda judge: _judge(warehouse, judge), ledger)
    warehouse.write(Change(Call, list(ledger.calls.values())))
    return ledger


async def _judge(warehouse: Warehouse, judge: LlmJudge) -> None:
    bench = get_protocol(PROTOCOL)
    plans = plan_cells(warehouse, EDITION, bench, judge)
    todo = [plan for plan in plans if plan.state == "pending"]
    cases = load_cases(warehouse, todo)
    for plan in todo:
        await write_cell(warehouse, plan, await bench.judge(cases[plan.cell_id], judge))
    plans = plan_cells(warehouse, EDITION, bench, judge)
    scores = [
        score
        for agent in sorted({plan.agent for plan in plans})
        for score in compute_scores(warehouse, bench, judge, [p for p in plans if p.agent == agent])
    ]
    await asyncio.to_thread(warehouse.write, Change(Score, scores))


def printed_edition(warehouse: Warehouse, folder: Path, **files: bytes) -> None:
    """Three tasks with an agent's reports to them as files, by the files' endings."""
    tasks = read_drb2(write_lines(folder / "tasks.jsonl", row(1), row(2), row(3)))
    reports = folder / "report" / "printed"
    reports.mkdir(parents=True)
    for number, (ending, content) in enumerate(files.items(), start=1):
        (reports / f"idx-{number}.{ending}").write_bytes(content)
    import_queries(warehouse, SET, tasks, "e")
    assert import_reports(warehouse, match_reports(warehouse, folder, "e", None)).complete
