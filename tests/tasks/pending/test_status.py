"""What `status` counts."""

from tasks.judges.registry import load_judge
from tasks.pending.status import count_stages
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


def job(assignment: str, state: str, attempt: int = 1) -> Job:
    return Job.model_validate(
        {
            "job": f"{assignment} {attempt}", "edition": "e", "agent": "a",
            "assignment": assignment, "attempt": attempt, "kind": "http", "parameters": "{}",
            "prompt": "p", "prompt_sha": "s", "state": state,
        }
    )  # fmt: skip


def report(assignment: str, text: str) -> Report:
    return Report(
        edition="e", agent="a", assignment=assignment, text=text, text_sha="s",
        source_path="job 1", status="ok" if text else "empty",
    )  # fmt: skip


def test_each_report_counts_once_whatever_became_of_its_jobs(warehouse: Warehouse) -> None:
    warehouse.write(
        Change(Job, [job("never", "failed"), job("silent", "failed"), job("again", "failed"),
                     job("again", "done", attempt=2)]),
        Change(Report, [report("silent", ""), report("again", "A text.")]),
    )  # fmt: skip
    counts = {c.stage: c for c in count_stages(warehouse, "e", load_judge("offline"))}
    found = counts["reports"]
    assert (found.done, found.pending, found.failed, found.final) == (1, 0, 1, 1)
