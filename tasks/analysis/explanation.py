"""Reports with every verdict behind their figures, for the drill-down in the terminal and the site.

Uses one query per table and agent: on the published edition an agent has 69 reports, 10,000 facts
and 16,000 verdicts.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC
from typing import Any

from tasks.agents.registry import describe_doubtful_end
from tasks.analysis.outcomes import ClaimMarking, determine_outcome, find_markings
from tasks.extraction.understanding import describe_understood
from tasks.protocols.redirects import Redirects, cites_page
from tasks.protocols.registry import list_claim_marking
from tasks.scoring.extractors import find_empty_lists
from tasks.warehouse.explanations import (
    ExplainedCitation,
    ExplainedClaim,
    ExplainedFact,
    ExplainedPage,
    ExplainedReport,
    ExplainedVerdict,
    ReportScore,
    report_id,
)
from tasks.warehouse.store import Readable

WIKI_FACT, CONFLICT, COVERAGE_ALL = "wiki_fact", "conflict", "coverage_all"
NOT_EXTRACTED = "its claims have not been extracted"

REPORTS = """
WITH asked AS (
    SELECT j.assignment, max_by(j.model_version, j.turn) AS model_version,
        max_by(j.kind, j.turn) AS asked_as, max_by(j.remote_word, j.turn) AS remote_word,
        count(*) > count(j.cost_usd) AS cost_missing, sum(j.cost_usd ORDER BY j.turn) AS usd,
        CASE WHEN count(j.finished_at) = count(*)
            THEN epoch(max(j.finished_at) - min(j.created_at)) END AS seconds
    FROM jobs AS j
    JOIN reports AS r USING (edition, agent, assignment)
    JOIN jobs AS last USING (edition, agent, assignment, attempt)
    WHERE j.edition = $1 AND j.agent = $2 AND r.source_path = 'job ' || last.job
    GROUP BY ALL
)
SELECT r.edition, r.agent, coalesce(g.name, r.agent) AS agent_name, r.assignment,
    nullif(a.article, '') AS article, coalesce(t.title, r.assignment) AS title, t.url,
    coalesce(a.kind, 'write_article') AS kind, a.prompt, a.query,
    r.status, r.text, r.text_sha, r.source_path,
    CASE WHEN NOT coalesce(j.cost_missing, false) AND coalesce(j.usd, c.usd) IS NOT NULL
        THEN coalesce(j.usd, 0) + coalesce(c.usd, 0) END AS usd,
    j.seconds, j.model_version, j.asked_as, j.remote_word,
    coalesce(x.pairs_reliable, false) AS pairs_reliable,
    CASE WHEN x.pairs_reliable IS NULL THEN $4 ELSE x.pairs_reason END AS pairs_reason
FROM reports AS r
LEFT JOIN assignments AS a USING (edition, assignment)
LEFT JOIN articles AS t ON t.edition = r.edition AND t.article = a.article
LEFT JOIN agents AS g ON g.edition = r.edition AND g.agent = r.agent
LEFT JOIN collection_costs AS c
    ON c.edition = r.edition AND c.agent = r.agent AND c.assignment = r.assignment
LEFT JOIN extractions AS x
    ON x.edition = r.edition AND x.agent = r.agent AND x.assignment = r.assignment
LEFT JOIN asked AS j ON j.assignment = r.assignment
WHERE r.edition = $1 AND r.agent = $2 AND ($3 IS NULL OR r.assignment IN (SELECT unnest($3)))
ORDER BY r.assignment
"""
OF_REPORTS = "edition = $1 AND agent = $2 AND assignment IN (SELECT unnest($3))"
CLAIMS = f"""
SELECT assignment, number, text, section, position, source, unwritten_urls FROM claims
WHERE {OF_REPORTS} ORDER BY assignment, number
"""
CITATIONS = f"""
SELECT assignment, number, url, raw_url, marker, kind FROM citations
WHERE {OF_REPORTS} ORDER BY assignment, number, url
"""
FACTS = """
SELECT article, number, text, section, position FROM facts
WHERE edition = $1 AND article IN (SELECT unnest($2)) ORDER BY article, number
"""
PAGES = f"""
SELECT url, pages.status, title, final_url, fetched_at, coalesce(source, 'published') AS source,
    text_sha, error, media_type, language, published_on, length(text) AS n_chars, s.state, s.gone
FROM pages JOIN page_states AS s USING (edition, url)
WHERE edition = $1 AND url IN (SELECT url FROM citations WHERE {OF_REPORTS})
"""
REDIRECTS = "SELECT url, final_url FROM pages WHERE edition = $1 AND final_url IS NOT NULL"
JUDGED = f"""
{OF_REPORTS} AND (len($4) = 0 OR list_contains($4, judge))
AND (len($5) = 0 OR list_contains($5, protocol))
"""
VERDICTS = f"""
SELECT assignment, {", ".join(field.name for field in fields(ExplainedVerdict))}
FROM verdicts_at_hand WHERE {JUDGED}
"""
SCORES = f"""
SELECT assignment, {", ".join(field.name for field in fields(ReportScore))} FROM scores
WHERE {JUDGED} AND (
    len($4) > 0 OR state <> 'pending'
    OR judge IN (SELECT judge FROM verdicts WHERE edition = $1)
    OR NOT EXISTS (FROM verdicts WHERE edition = $1)
) ORDER BY assignment, protocol, judge, metric
"""
"""Without a judge that was chosen but has decided nothing of the edition, as one whose server was
not running, unless no judge has or it is asked for by name."""

GroupedRows = dict[Any, list[Any]]


def explain_reports(
    source: Readable,
    edition: str,
    agent: str,
    assignments: Collection[str] | None = None,
    judges: Collection[str] = (),
    protocols: Collection[str] = (),
) -> Iterator[ExplainedReport]:
    """Yield one agent's reports with their verdicts, by assignment.

    These are the verdicts that figures rest on; for reports with open items, those there are (the
    view `verdicts_at_hand`).

    Args:
        assignments: only these; all if None. Assignments without a report are left out.
        judges: only verdicts of these; of all if empty.
        protocols: only verdicts under these; under any if empty.
    """
    chosen = None if assignments is None else sorted(assignments)
    records = source.frame(REPORTS, [edition, agent, chosen, NOT_EXTRACTED]).to_dicts()
    if records:
        index = _ReportIndex(source, edition, agent, records, [list(judges), list(protocols)])
        yield from (index.explain(record) for record in records)


class _ReportIndex:
    """The rows that explain one agent's reports, by assignment."""

    def __init__(
        self,
        source: Readable,
        edition: str,
        agent: str,
        records: Sequence[Mapping[str, Any]],
        judged_by: list[list[str]],
    ) -> None:
        """judged_by: the judges and the protocols whose verdicts to use; empty: all."""
        of_reports: list[Any] = [edition, agent, [record["assignment"] for record in records]]
        articles = sorted({record["article"] for record in records if record["article"]})
        self.claims = source.frame(CLAIMS, of_reports).rows_by_key("assignment")
        self.citations = source.frame(CITATIONS, of_reports).rows_by_key(["assignment", "number"])
        self.facts = source.frame(FACTS, [edition, articles]).rows_by_key("article")
        self.pages = {row[0]: _make_page(*row) for row in source.frame(PAGES, of_reports).rows()}
        self.redirects: Redirects = dict(source.frame(REDIRECTS, [edition]).rows())
        judged = of_reports + judged_by
        self.verdicts = source.frame(VERDICTS, judged).rows_by_key("assignment")
        self.scores = source.frame(SCORES, judged).rows_by_key("assignment")
        self.empty = find_empty_lists(source, edition, agent).select("assignment", "said").rows()

    def explain(self, record: Mapping[str, Any]) -> ExplainedReport:
        """Build one report; verdicts on no claim, citation or fact become its `others`."""
        assignment = record["assignment"]
        fields = dict(record)
        ended = fields.pop("asked_as"), fields.pop("remote_word")
        by_item, others = _group_by_item(
            ExplainedVerdict(*row) for row in self.verdicts[assignment]
        )
        scores = tuple(ReportScore(*row) for row in self.scores[assignment])
        marking = find_markings(scores)
        rows = self.claims[assignment]
        claims = tuple(self._claim(record, row, by_item, marking) for row in rows)
        facts = tuple(_make_fact(row, by_item) for row in self.facts[record["article"]])
        left = [decision for of_item in by_item.values() for decision in of_item]
        asked = record["text"] and record["kind"] != "find_claims"
        unclear = asked and not (claims and record["pairs_reliable"])
        return ExplainedReport(
            **fields,
            understood=describe_understood(record["text"]) if unclear else None,
            doubtful_end=describe_doubtful_end(*ended),
            id=report_id(record["edition"], record["agent"], assignment),
            claims=claims,
            facts=facts,
            others=tuple(sorted(others + left, key=_sort_key)),
            scores=scores,
            empty_lists="; ".join(said for of, said in self.empty if of == assignment) or None,
        )

    def _claim(
        self,
        record: Mapping[str, Any],
        row: tuple[Any, ...],
        by_item: GroupedRows,
        marking: Mapping[str, ClaimMarking],
    ) -> ExplainedClaim:
        number, text, section, position, origin, unwritten = row
        citations = tuple(
            ExplainedCitation(
                url,
                raw_url,
                marker,
                kind,
                self.pages.get(url),
                _pop_verdicts(by_item, f"claim:{number} {url}"),
            )
            for url, raw_url, marker, kind in self.citations[record["assignment"], number]
        )
        of_claim = _pop_verdicts(by_item, f"claim:{number}")
        decisions = tuple(d for d in of_claim if not _is_conflict(d))
        reliable = record["pairs_reliable"]
        return ExplainedClaim(
            number=number,
            text=text,
            section=section,
            position=position,
            source=origin,
            citations=citations,
            outcomes={
                judge: determine_outcome(of_judge, judge, citations, decisions, reliable=reliable)
                for judge, of_judge in marking.items()
            },
            conflicts=tuple(filter(_is_conflict, of_claim)),
            leaked=self._leaked(record["url"], citations, unwritten)
            if reliable or origin == "published"
            else None,
            decisions=decisions,
        )

    def _leaked(
        self, article: str | None, citations: Iterable[ExplainedCitation], unwritten: str | None
    ) -> bool | None:
        """Return whether a cited page is the article, by the rule of `leakage_rate`."""
        if not article:
            return None
        urls = [*(citation.url for citation in citations), *(unwritten or "").split()]
        return cites_page(urls, article, self.redirects)


def _group_by_item(
    verdicts: Iterable[ExplainedVerdict],
) -> tuple[GroupedRows, list[ExplainedVerdict]]:
    """Group by item the verdicts of protocols that judge facts, claims and citations; return the
    other verdicts, too."""
    by_item: GroupedRows = defaultdict(list)
    others: list[ExplainedVerdict] = []
    for decision in verdicts:
        marks = decision.protocol in list_claim_marking()
        (by_item[decision.item] if marks else others).append(decision)
    return by_item, others


def _make_fact(row: tuple[Any, ...], by_item: GroupedRows) -> ExplainedFact:
    number, text, section, position = row
    found = _pop_verdicts(by_item, f"fact:{number}")
    return ExplainedFact(
        number,
        text,
        section,
        position,
        decisions=tuple(d for d in found if d.step != COVERAGE_ALL),
        by_all_claims=tuple(d for d in found if d.step == COVERAGE_ALL),
    )


def _is_conflict(decision: ExplainedVerdict) -> bool:
    return (decision.protocol, decision.step) == (WIKI_FACT, CONFLICT)


def _pop_verdicts(by_item: GroupedRows, item: str) -> tuple[ExplainedVerdict, ...]:
    found = by_item.pop(item, None)
    return tuple(sorted(found, key=_sort_key)) if found else ()


def _sort_key(decision: ExplainedVerdict) -> tuple[Any, ...]:
    numbers_apart = tuple(
        (part.isdecimal(), int(part) if part.isdecimal() else 0, part)
        for part in re.split(r"(\d+)", decision.item)
    )
    return decision.protocol, decision.step, numbers_apart, decision.judge


def _make_page(*row: Any) -> ExplainedPage:
    page = ExplainedPage(*row)
    if page.fetched_at is None:
        return page
    return replace(page, fetched_at=page.fetched_at.replace(tzinfo=UTC))
