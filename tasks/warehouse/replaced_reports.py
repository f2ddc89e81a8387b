"""What goes when a report is replaced by another text."""

from tasks.warehouse.results import Score
from tasks.warehouse.rows import Citation, Claim, Extraction, Report
from tasks.warehouse.writer import Change


def remove_judgement(report: Report) -> list[Change]:
    """Build the removal of what an earlier text of a report made: its claims, citations and scores.

    Until it is judged again, the report counts as not judged. Verdicts stay, and calls with them:
    what the new text has in common with the old one is not bought again.
    """
    key = report.model_dump(include=set(Report.key))
    return [Change(model, [], replacing=key) for model in (Claim, Citation, Extraction, Score)]
