"""What a report took is what its own job says, over all of its turns."""

from pathlib import Path

from tasks.judging.inputs import load_usage
from tasks.protocols.case import ReportUsage
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row


def job(name: str, assignment: str, attempt: int = 1, turn: int = 1, **took: int | None) -> Job:
    return Job.model_validate(
        {
            "job": name, "edition": "e", "agent": "a", "assignment": assignment,
            "attempt": attempt, "turn": turn, "kind": "openai_responses", "parameters": "{}",
            "prompt": "Write.", "prompt_sha": "sha", "state": "done",
        }
        | took
    )  # fmt: skip


def report(assignment: str, source: str) -> Report:
    return a_row(Report, assignment=assignment, source_path=source)


def test_turns_are_summed_other_attempts_are_not_and_imports_took_nothing(tmp_path: Path) -> None:
    jobs = [
        job("1", "asked_back", output_tokens=10, searches=1),
        job("2", "asked_back", turn=2, output_tokens=5, searches=2),
        job("3", "again", output_tokens=100),
        job("4", "again", attempt=2, output_tokens=7, reasoning_steps=3),
        job("5", "silent", output_tokens=4),
        job("6", "silent", turn=2),
        job("7", "replaced", output_tokens=9),
    ]
    reports = [
        report("asked_back", "job 2"), report("again", "job 4"), report("silent", "job 6"),
        report("replaced", "replaced.md"),
    ]  # fmt: skip
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        warehouse.write(Change(Job, jobs), Change(Report, reports))
        found = load_usage(warehouse, "e")
    assert found == {
        ("a", "asked_back"): ReportUsage(output_tokens=15, searches=3),
        ("a", "again"): ReportUsage(output_tokens=7, reasoning_steps=3),
        ("a", "silent"): ReportUsage(),
    }
