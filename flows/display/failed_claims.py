"""Print the claims of an agent's reports that are not supported."""

from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from flows.display.console import STDOUT, print_result
from flows.display.explanation import print_claim
from tasks.base import format_count
from tasks.foreign_text import make_visible
from tasks.site.wording import MARKS
from tasks.warehouse.explanations import ExplainedClaim, ExplainedReport

FAILED = {"poor", "bad"}
"""Tones of outcomes."""


def select_failed_claims(report: ExplainedReport) -> ExplainedReport:
    """Return a report with only the claims that a judge found not supported, supported in part or
    conflicting, and without facts and other verdicts."""
    claims = tuple(claim for claim in report.claims if FAILED & _find_tones(claim))
    return replace(report, claims=claims, facts=(), others=())


def print_failed_claims(reports: Sequence[ExplainedReport]) -> None:
    """Print the claims of each report that are not supported, with their evidence.

    reports: at least one, all of one edition.
    """
    n_failed = n_claims = 0
    for report in reports:
        failed = select_failed_claims(report).claims
        judged = [claim for claim in report.claims if {"good", *FAILED} & _find_tones(claim)]
        n_failed, n_claims = n_failed + len(failed), n_claims + len(judged)
        title = make_visible(f"{report.agent}/{report.assignment}", one_line=True)
        counts = f"  {len(failed):,} of {format_count(len(judged), 'judged claim')}"
        if not report.scores:
            counts = "  not judged yet: evergreen evaluate"
        STDOUT.print(Text.assemble("\n", (title, "bold"), (counts, "dim")), highlight=False)
        if report.understood:
            print_result(f"  read: {report.understood}", "dim", wrap=False)
        for claim in failed:
            print_claim(claim, report, whole=False)
    if not n_claims:
        STDOUT.print("\nNo claim of these reports has been judged.", highlight=False)
        return
    STDOUT.print(
        f"\n{n_failed:,} of {format_count(n_claims, 'judged claim')} in "
        f"{format_count(len(reports), 'report')} of {make_visible(reports[0].edition)} are not "
        "supported by the pages that they cite.",
        highlight=False,
    )


def _find_tones(claim: ExplainedClaim) -> set[str]:
    return {MARKS[outcome].tone for outcome in claim.outcomes.values()}
