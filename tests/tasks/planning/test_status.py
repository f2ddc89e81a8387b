"""What `status` counts."""

from tasks.planning.stages import count_stages
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row


def test_each_report_counts_once_whatever_became_of_its_jobs(warehouse: Warehouse) -> None:
    warehouse.write(
        Change(Job, [
            a_row(Job, job=f"{assignment} {attempt}", assignment=assignment, state=state,
                  attempt=attempt)
            for assignment, state, attempt in (("never", "failed", 1), ("silent", "failed", 1),
                                               ("again", "failed", 1), ("again", "done", 2))
        ]),
        Change(Report, [a_row(Report, assignment="silent", text="", status="empty"),
                        a_row(Report, assignment="again")]),
    )  # fmt: skip
    counts = {c.stage: c for c in count_stages(warehouse, "e", "offline")}
    found = counts["reports"]
    assert (found.done, found.pending, found.failed, found.final) == (1, 0, 1, 1)
