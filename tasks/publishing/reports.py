"""The report pages, the data that other pages need from the reports, and the pages they cite: how
each was fetched, and the passages that verdicts quote."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from tasks.analysis.explanation import explain_reports
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import TEXT_SECONDS, HelperProcesses
from tasks.publishing.material import SiteMaterial
from tasks.site.content import SiteInfo
from tasks.site.environment import SitePages
from tasks.site.report_page import ItemWords, ReportFrame, render_report_pages, snapshot_href
from tasks.site.report_parts import ReportParts, split_report
from tasks.site.wording import OutcomeMark, choose_mark
from tasks.warehouse.explanations import ExplainedReport

ITEMS = """
SELECT assignment, protocol, dimension AS step, item, text FROM rubrics WHERE edition = $1
UNION ALL
SELECT assignment, 'research_gym', 'key_point', 'point:' || number, text FROM key_points
WHERE edition = $1
"""
"""The texts of the items that verdicts name only by their number."""
UNSHOWN = "*This report's text is not shown: rendering it {}.*"
AHEAD = 24
"""Limit of reports that wait for rendering or writing."""
BATCH_SIZE = 200
"""Pages loaded at once; their texts can be long."""
CONTEXT = 160
"""Characters before and after a quotation."""
MAX_PASSAGES = 60
MAX_TEXT = 400_000
"""Characters of a page shown whole; longer texts are cut, with a note."""
PAGES = """
SELECT url, status, title, final_url, fetched_at, source, text_sha, error,
    length(text) AS n_chars, text
FROM pages WHERE edition = $1 AND list_contains($2, url) ORDER BY url
"""
OTHERS = ("title", "text")
"""What the page's authors have written."""
Passage = tuple[str, str, str]
"""Text before, quotation, text after."""


@dataclass
class CitedPage:
    """A page that reports cite, with the citing claims and the quoted evidence."""

    raw_url: str
    by: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Report id → claim numbers."""
    evidence: set[str] = field(default_factory=set)


@dataclass
class CrossReferences:
    """The data that other pages need from the reports."""

    facts: dict[str, dict[str, dict[int, OutcomeMark]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Assignment → agent → fact number → coverage by the report, by the first judge."""
    cited: dict[str, CitedPage] = field(default_factory=dict)
    """URL → page, for pages in the archive."""
    reports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Report id → agent's name, title."""
    parts: dict[str, ReportParts] = field(default_factory=dict)
    """Report id → which of the report's pages holds which claim and fact."""


def write_report_pages(
    material: SiteMaterial,
    pages: SitePages,
    helpers: HelperProcesses,
    on_progress: Callable[[str, int, int], None],
) -> CrossReferences:
    """Write the report pages, agent by agent; return what articles and cited pages need of them.

    Helper processes render the pages while the next reports are loaded.
    """
    gathered = CrossReferences()
    words = _load_item_words(material)
    frame = _make_frame(material, pages.info)
    rendering: deque[_Rendering] = deque()
    done, total = 0, material.reports.height

    def write(most_waiting: int) -> None:
        nonlocal done
        while len(rendering) > most_waiting:
            for name, page in rendering.popleft().finish(helpers).items():
                pages.folder.add(f"reports/{name}", page)
            done += 1
            on_progress("reports", done, total)

    for agent in material.agents:
        for report in explain_reports(
            material.source, material.edition, agent, judges=material.judges
        ):
            _add_report(gathered, report, material.judge)
            links = (material.agent_href(agent), material.assignments[report.assignment].href)
            parts = gathered.parts[report.id]
            rendering.append(
                _Rendering(helpers, frame, report, parts, words[report.assignment], links)
            )
            write(AHEAD)
    write(0)
    return gathered


class _Rendering:
    """The pages of one report, which a helper renders."""

    def __init__(
        self,
        helpers: HelperProcesses,
        frame: ReportFrame,
        report: ExplainedReport,
        parts: ReportParts,
        words: ItemWords,
        links: tuple[str, str],
    ) -> None:
        self._frame, self._report, self._rest = frame, report, (parts, words, *links)
        self._pages = self._submit(helpers, report)

    def finish(self, helpers: HelperProcesses) -> dict[str, str]:
        """Wait for the pages; those of a text that takes too long come without it."""
        try:
            return self._pages.result()
        except LimitExceeded as error:
            claims = tuple(replace(claim, position=None) for claim in self._report.claims)
            without = replace(self._report, text=UNSHOWN.format(error), claims=claims)
            return self._submit(helpers, without).result()

    def _submit(self, helpers: HelperProcesses, report: ExplainedReport) -> Future[dict[str, str]]:
        return helpers.submit(
            render_report_pages, self._frame, report, *self._rest, seconds=TEXT_SECONDS
        )


def _make_frame(material: SiteMaterial, site: SiteInfo) -> ReportFrame:
    keys = material.scores.select("protocol", "metric").unique().sort("protocol", "metric")
    entries = {(p, m): material.metric(p, m) for p, m in keys.iter_rows()}
    return ReportFrame(
        site=site,
        judge=material.judge,
        judge_titles=material.judge_titles,
        protocol_titles=dict(material.protocol_titles),
        metrics={key: (entry.title, entry.unit) for key, entry in entries.items()},
    )


def _add_report(gathered: CrossReferences, report: ExplainedReport, judge: str) -> None:
    gathered.reports[report.id] = (report.agent_name, report.title)
    gathered.parts[report.id] = split_report(report)
    gathered.facts[report.assignment][report.agent] = {
        fact.number: choose_mark(decision.status, decision.label, None, decision.step)
        for fact in report.facts
        for decision in fact.decisions
        if decision.judge == judge
    }
    for claim in report.claims:
        for citation in claim.citations:
            if citation.page is None:
                continue
            cited = gathered.cited.setdefault(citation.url, CitedPage(citation.raw_url))
            cited.by[report.id].append(claim.number)
            cited.evidence |= {d.evidence for d in citation.decisions if d.evidence}


def _load_item_words(material: SiteMaterial) -> dict[str, ItemWords]:
    """Load the texts of rubric items and key points, by assignment."""
    found: dict[str, ItemWords] = defaultdict(dict)
    rows = material.source.frame(ITEMS, [material.edition]).iter_rows()
    for assignment, protocol, step, item, text in rows:
        found[assignment][protocol, step, item] = text
    return found


def write_cited_pages(
    material: SiteMaterial,
    pages: SitePages,
    gathered: CrossReferences,
    on_progress: Callable[[str, int, int], None],
) -> None:
    """Write a page for each cited page in the archive."""
    done, every = 0, sorted(gathered.cited)
    for start in range(0, len(every), BATCH_SIZE):
        urls = every[start : start + BATCH_SIZE]
        for row in material.source.frame(PAGES, [material.edition, urls]).iter_rows(named=True):
            _write_cited_page(material, pages, row, gathered)
            done += 1
            on_progress("cited pages", done, len(gathered.cited))


def _write_cited_page(
    material: SiteMaterial, pages: SitePages, row: dict[str, Any], gathered: CrossReferences
) -> None:
    cited = gathered.cited[row["url"]]
    whole = material.snapshots == "whole"
    guard = pages.folder.guard  # before the text is cut, which might leave a part of a key
    row = {**row, **{name: guard.check_value(row, "pages", name) for name in OTHERS if row[name]}}
    text = row["text"] or ""
    passages: list[Passage]
    if whole:
        cut = f"\n[cut here: {len(text) - MAX_TEXT:,} more characters]"
        passages = [(text[:MAX_TEXT], "", cut if len(text) > MAX_TEXT else "")] if text else []
    else:
        evidence = {guard.check(quotation, row["url"]) for quotation in cited.evidence}
        passages = find_passages(text, sorted(evidence))
    citing = sorted(cited.by.items(), key=lambda item: gathered.reports[item[0]])
    pages.add(
        snapshot_href(row["url"]),
        "page.html",
        p=row,
        address=cited.raw_url,
        passages=passages,
        whole=whole,
        cited_by=[(name, *gathered.reports[name], sorted(numbers)) for name, numbers in citing],
        claim_href=lambda report, number: gathered.parts[report].claim_href(number),
    )


def find_passages(text: str, evidence: Sequence[str]) -> list[Passage]:
    """Find the passages that verdicts quote, in the order of the text, with their context.

    A quotation that does not occur word for word is found by its beginning, else returned without
    context.
    """
    found: list[tuple[int, Passage]] = []
    for quotation in evidence:
        start, end = _locate(text, quotation)
        if start < 0:
            found.append((len(text), ("", quotation, "")))
            continue
        before = text[max(0, start - CONTEXT) : start]
        after = text[end : end + CONTEXT]
        found.append((start, (("… " if start > CONTEXT else "") + before, text[start:end],
                              after + (" …" if end + CONTEXT < len(text) else ""))))  # fmt: skip
    return [passage for _, passage in sorted(found)][:MAX_PASSAGES]


def _locate(text: str, quotation: str) -> tuple[int, int]:
    start = text.find(quotation)
    if start >= 0:
        return start, start + len(quotation)
    beginning = quotation[:80].rstrip(" …")
    start = text.find(beginning) if len(beginning) > 20 else -1
    return start, start + len(beginning)
