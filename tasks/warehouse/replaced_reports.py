"""Removal of what rests on a report's earlier text."""

from tasks.warehouse.results import Score
from tasks.warehouse.rows import Citation, Claim, Extraction, Report
from tasks.warehouse.writer import Change


def remove_judgement(report: Report) -> list[Change]:
    """Build the removal of a report's claims, citations and scores, for when its text is replaced.

    The report then counts as not judged. Verdicts and calls stay, so what both texts have in
    common is not bought again.
    """
    key = report.model_dump(include=set(Report.key))
    return [Change(model, [], replacing=key) for model in (Claim, Citation, Extraction, Score)]
