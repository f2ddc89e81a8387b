"""Comparison of two judges on the same reports: agreement, changed labels, and the effect on
agents' figures; and of the offline extractor's claims with published ones.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.analysis.protocols import CATEGORIES
from tasks.configuration.models import MetricEntry, load_judges
from tasks.editions.names import UnknownName, check_selection
from tasks.errors import suggest_names
from tasks.extraction.agreement import (
    CitedClaim,
    ExtractionAgreement,
    compare_extraction,
    sum_agreements,
)
from tasks.extraction.claims import extract_claims
from tasks.judging.protocols import choose_protocols
from tasks.metrics.agreement import ALL_STEPS, measure_agreement
from tasks.metrics.ratios import summarize_scores
from tasks.protocols.registry import available_protocols
from tasks.warehouse.store import Readable, Warehouse

SELECTED = (
    "edition = $1 AND (len($2) = 0 OR list_contains($2, agent)) "
    "AND (len($3) = 0 OR list_contains($3, assignment)) "
    "AND (len($4) = 0 OR list_contains($4, protocol))"
)
OWN = "status = 'ok' AND label IS NOT NULL AND decided_by IS NULL"
"""A judge's own labels: those of its fallback say nothing of it."""
DECIDED_BY_BOTH = f"""
WITH said AS (
    SELECT * FROM current_verdicts WHERE {SELECTED} AND {OWN}
)
SELECT a.protocol, a.step, a.agent, a.assignment, a.item, a.label AS before, b.label AS after
FROM said AS a JOIN said AS b USING (protocol, step, agent, assignment, item)
WHERE a.judge = $5 AND b.judge = $6
ORDER BY ALL
"""
"""The items that both judges decided."""
DECIDED_BY_ONE = f"""
SELECT judge, count(*) AS n FROM (
    SELECT any_value(judge) AS judge FROM current_verdicts
    WHERE {SELECTED} AND {OWN} AND judge IN ($5, $6)
    GROUP BY protocol, step, agent, assignment, item HAVING count(*) = 1
)
GROUP BY judge
"""
"""The number of items that only one of them decided."""
SCORES = f"""
SELECT protocol, agent, assignment, judge, metric, value, numerator, n_items, state
FROM scores WHERE {SELECTED} AND judge IN ($5, $6)
ORDER BY protocol, agent, metric, judge, assignment
"""
AGREEMENT = {
    "protocol": pl.String, "step": pl.String, "n_items": pl.Int64, "n_assignments": pl.Int64,
    "alike": pl.Float64, "kappa": pl.Float64, "kappa_low": pl.Float64, "kappa_high": pl.Float64,
}  # fmt: skip
FIGURES = {
    "protocol": pl.String, "agent": pl.String, "metric": pl.String,
    "before": pl.Float64, "before_reports": pl.Int64, "before_items": pl.Int64,
    "after": pl.Float64, "after_reports": pl.Int64, "after_items": pl.Int64,
    "exchanged": pl.Float64, "change": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class ReportSelection:
    """The reports to compare; an empty field selects everything."""

    edition: str
    agents: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()

    def parameters(self, *more: str) -> list[Any]:
        """Return the parameters of the queries above."""
        return [
            self.edition, list(self.agents), list(self.assignments), list(self.protocols), *more
        ]  # fmt: skip


@dataclass(frozen=True)
class JudgeComparison:
    """Two judges compared; shares 0-1, kappa -1 to 1."""

    before: str
    """The judge to compare with."""
    after: str
    """The judge that judged again."""
    agreement: pl.DataFrame
    """protocol, step, n_items, n_assignments, alike, and kappa with its 95 % interval by resampling
    assignments, on the items that both decided. Null if there are none, kappa is undefined, or
    there are too few assignments for an interval."""
    changed: pl.DataFrame
    """protocol, step, agent, assignment, item, before, after: every label that differs."""
    only_before: int
    """Items that only the first judge decided."""
    only_after: int
    figures: pl.DataFrame
    """Per agent and metric, the figure of each judge over the reports it has judged, with the
    numbers of reports and items. `exchanged`: the first judge's figure with the second's verdicts
    on all reports that the second has judged; null if the second has no such figure. `change`:
    `exchanged` minus `before`."""


def compare_judges(
    source: Readable, selection: ReportSelection, before: str, after: str
) -> JudgeComparison:
    """Compare two judges on the selected reports, as the warehouse has them now."""
    both = source.frame(DECIDED_BY_BOTH, selection.parameters(before, after))
    alone = dict(source.frame(DECIDED_BY_ONE, selection.parameters(before, after)).iter_rows())
    whole = ReportSelection(selection.edition, selection.agents, (), selection.protocols)
    return JudgeComparison(
        before=before,
        after=after,
        agreement=_tabulate_agreement(both),
        changed=both.filter(pl.col("before") != pl.col("after")),
        only_before=alone.get(before, 0),
        only_after=alone.get(after, 0),
        figures=_tabulate_figures(source, whole, before, after),
    )


def select_reports(
    source: Warehouse,
    edition: str,
    judge: str,
    against: str | None,
    agents: Sequence[str] | None,
    assignments: Sequence[str] | None,
    protocols: Sequence[str] | None,
) -> tuple[ReportSelection, str]:
    """Return the reports and protocols to compare, and the judge to compare with.

    Raises:
        UnknownName: a name is unknown, or no other judge has judged these reports.
    """
    named = choose_protocols(source, edition, protocols) if protocols else ()
    check_selection(source, edition, named, agents or (), judge)
    other = choose_other_judge(source, edition, judge, against)
    wanted = ReportSelection(edition, tuple(agents or ()), tuple(assignments or ()), named)
    judged = find_judged_protocols(source, wanted, other)
    return ReportSelection(edition, wanted.agents, wanted.assignments, judged), other


def choose_other_judge(source: Readable, edition: str, judge: str, against: str | None) -> str:
    """Choose the judge to compare with: the named one, else the default judge if it has judged the
    edition, else the only other judge that has.

    Raises:
        UnknownName: that judge has judged nothing here, or the choice is ambiguous.
    """
    found = source.frame(
        "SELECT DISTINCT judge FROM scores WHERE edition = $1 AND judge <> $2 "
        "AND state = 'done' ORDER BY judge",
        [edition, judge],
    )
    others: list[str] = found["judge"].to_list()
    default = load_judges().default
    if against == judge:
        raise UnknownName(
            f"{judge} cannot be compared with itself; name another judge with --against."
        )
    if against in others:
        return str(against)
    if against is None and (default in others or len(others) == 1):
        return default if default in others else others[0]
    if not others:
        raise UnknownName(
            f"No other judge than {judge} has judged {edition}, so there is nothing to compare "
            f"with. First run `evergreen evaluate --edition {edition} --judge NAME`."
        )
    problem = f"{against} has judged nothing of {edition}. " if against else ""
    raise UnknownName(f"{problem}Name one with --against. {suggest_names(against or '', others)}")


def find_judged_protocols(
    source: Readable, selection: ReportSelection, before: str
) -> tuple[str, ...]:
    """Return the selected protocols under which the first judge has judged selected reports.

    Raises:
        UnknownName: there are none.
    """
    found = source.frame(
        f"SELECT DISTINCT protocol FROM scores WHERE {SELECTED} AND judge = $5 "
        "AND state = 'done' ORDER BY protocol",
        selection.parameters(before),
    )
    if found.is_empty():
        raise UnknownName(
            f"{before} has judged none of these reports of {selection.edition}: there is nothing "
            "to compare with. `evergreen status` shows what is judged; choose other reports, or "
            "another judge with --against."
        )
    return tuple(found["protocol"])


def _tabulate_agreement(both: pl.DataFrame) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for (name,), of_protocol in both.group_by("protocol", maintain_order=True):
        parts = of_protocol.sort("step", maintain_order=True).partition_by("step", as_dict=True)
        steps = {str(step): part for (step,), part in parts.items()}
        if len(steps) > 1:
            steps[ALL_STEPS] = of_protocol
        for step, part in steps.items():
            before, after = dict(enumerate(part["before"])), dict(enumerate(part["after"]))
            found = measure_agreement(before, after, part["assignment"].to_list().__getitem__)
            rows.append({"protocol": name, "step": step, **found.as_row()})
    return pl.DataFrame(rows, schema=AGREEMENT)


def _tabulate_figures(
    source: Readable, selection: ReportSelection, before: str, after: str
) -> pl.DataFrame:
    scores = source.frame(SCORES, selection.parameters(before, after))
    category_of = dict(source.frame(CATEGORIES, [selection.edition]).iter_rows())
    known = available_protocols(scores["protocol"].unique().sort().to_list())
    metrics = {(p, m.name): m for p, found in known.items() for m in found.metrics}
    rows = [
        (*key, *_compare_figure(part, metric, category_of, before, after))
        for key, part in scores.group_by("protocol", "agent", "metric", maintain_order=True)
        if (metric := metrics.get((str(key[0]), str(key[2]))))
    ]
    return pl.DataFrame(rows, schema=FIGURES, orient="row")


def _compare_figure(
    scores: pl.DataFrame,
    metric: MetricEntry,
    category_of: Mapping[str, str],
    before: str,
    after: str,
) -> tuple[float | int | None, ...]:
    """Return the columns of FIGURES after the key."""
    ours, theirs = (scores.filter(pl.col("judge") == judge) for judge in (before, after))
    done = theirs.filter(pl.col("state") == "done")
    kept = ours.join(done, on="assignment", how="anti")
    mixed = pl.concat([kept, done]).sort("assignment")
    old, new, (exchanged, *_) = (
        summarize_scores(metric.aggregate, some, category_of) for some in (ours, theirs, mixed)
    )
    if new[0] is None:
        exchanged = None
    change = None if old[0] is None or exchanged is None else exchanged - old[0]
    return (*old, *new, exchanged, change)


def select_figures(rejudged: JudgeComparison, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the figures of these metrics for which either judge has a value."""
    return rejudged.figures.filter(
        pl.col("metric").is_in(list(metrics))
        & (pl.col("before").is_not_null() | pl.col("after").is_not_null())
    )


PUBLISHED = """
SELECT c.agent, c.assignment, c.number, c.text,
    list(z.url ORDER BY z.url) FILTER (z.url IS NOT NULL) AS urls
FROM claims AS c LEFT JOIN citations AS z USING (edition, agent, assignment, number)
WHERE c.edition = $1 AND c.source = 'published'
GROUP BY ALL ORDER BY c.agent, c.assignment, c.number
"""


def measure_extraction(source: Readable, edition: str) -> Iterator[tuple[str, ExtractionAgreement]]:
    """Yield (agent, agreement summed over its reports) for every agent with published claims."""
    published: dict[str, dict[str, list[CitedClaim]]] = defaultdict(lambda: defaultdict(list))
    for agent, assignment, _, text, urls in source.frame(PUBLISHED, [edition]).iter_rows():
        published[agent][assignment].append(CitedClaim(text, tuple(urls or ())))
    for agent, reports in published.items():
        texts = source.frame(
            "SELECT r.assignment, t.title, r.text FROM reports AS r "
            "JOIN assignments AS a USING (edition, assignment) "
            "JOIN articles AS t USING (edition, article) "
            "WHERE r.edition = $1 AND r.agent = $2 ORDER BY r.assignment",
            [edition, agent],
        )
        yield (
            agent,
            sum_agreements(
                compare_extraction(reports[assignment], _extract_offline(title, text))
                for assignment, title, text in texts.iter_rows()
                if assignment in reports
            ),
        )


def _extract_offline(title: str, text: str) -> list[CitedClaim]:
    return [
        CitedClaim(claim.text, tuple(citation.url for citation in claim.citations))
        for claim in extract_claims(title, text).claims
    ]
