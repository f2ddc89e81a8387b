"""The page of every report, and what other pages need of the reports."""

from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from tasks.analysis.explanation import explained
from tasks.processes.pool import HelperProcesses
from tasks.publishing.material import Material
from tasks.site.content import Site
from tasks.site.folder import SiteFolder
from tasks.site.report_page import ReportFrame, Words, report_files
from tasks.site.report_parts import Parts, parts_of
from tasks.site.wording import Mark, decision_mark
from tasks.warehouse.explained import ExplainedReport

RUBRIC_ITEMS = "SELECT assignment, protocol, item, dimension, text FROM rubrics WHERE edition = $1"
KEY_POINTS = "SELECT assignment, number, text FROM key_points WHERE edition = $1"
AHEAD = 24
"""Reports that wait for a helper, or for being written."""


@dataclass
class Cited:
    """A page that reports cite: who does, and what verdicts quote of it."""

    raw_url: str
    by: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Report id → claim numbers."""
    evidence: set[str] = field(default_factory=set)


@dataclass
class Gathered:
    """What other pages need of the reports."""

    facts: dict[str, dict[str, dict[int, Mark]]] = field(default_factory=lambda: defaultdict(dict))
    """Assignment → agent → fact number → how the report covers it, by the first judge."""
    cited: dict[str, Cited] = field(default_factory=dict)
    """Of pages in the archive, by their key."""
    reports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Report id → agent's name, title."""
    parts: dict[str, Parts] = field(default_factory=dict)
    """Report id → which of its pages holds which claim and fact."""


def report_pages(
    material: Material,
    site: Site,
    folder: SiteFolder,
    helpers: HelperProcesses,
    on_progress: Callable[[str, int, int], None],
) -> Gathered:
    """Write them, an agent at a time; what articles and cited pages show of them.

    Helpers draw the pages while the next reports are read.
    """
    gathered = Gathered()
    rubrics, points = _rubric_words(material), _point_words(material)
    frame = _frame(material, site)
    drawn: deque[Future[dict[str, str]]] = deque()
    done, total = 0, material.reports.height

    def write(most_waiting: int) -> None:
        nonlocal done
        while len(drawn) > most_waiting:
            for name, page in drawn.popleft().result().items():
                folder.add(f"reports/{name}", page)
            done += 1
            on_progress("reports", done, total)

    for agent in material.agents:
        for report in explained(material.source, material.edition, agent, judges=material.judges):
            _gather(gathered, report, material.judge)
            words = rubrics[report.assignment] | points[report.assignment]
            links = (material.agent_href(agent), material.assignments[report.assignment].href)
            parts = gathered.parts[report.id]
            drawn.append(helpers.submit(report_files, frame, report, parts, words, *links))
            write(AHEAD)
    write(0)
    return gathered


def _frame(material: Material, site: Site) -> ReportFrame:
    keys = material.scores.select("protocol", "metric").unique().sort("protocol", "metric")
    entries = {(p, m): material.metric(p, m) for p, m in keys.iter_rows()}
    return ReportFrame(
        site=site,
        judge=material.judge,
        judge_titles=material.judge_titles,
        protocol_titles=dict(material.protocol_titles),
        metrics={key: (entry.title, entry.unit) for key, entry in entries.items()},
    )


def _gather(gathered: Gathered, report: ExplainedReport, judge: str) -> None:
    gathered.reports[report.id] = (report.agent_name, report.title)
    gathered.parts[report.id] = parts_of(report)
    gathered.facts[report.assignment][report.agent] = {
        fact.number: decision_mark(decision.status, decision.label, None, decision.step)
        for fact in report.facts
        for decision in fact.decisions
        if decision.judge == judge
    }
    for claim in report.claims:
        for citation in claim.citations:
            if citation.page is None:
                continue
            cited = gathered.cited.setdefault(citation.url, Cited(citation.raw_url))
            cited.by[report.id].append(claim.number)
            cited.evidence |= {d.evidence for d in citation.decisions if d.evidence}


def _rubric_words(material: Material) -> dict[str, Words]:
    found: dict[str, Words] = defaultdict(dict)
    frame = material.source.frame(RUBRIC_ITEMS, [material.edition])
    for assignment, protocol, item, dimension, text in frame.iter_rows():
        found[assignment][protocol, dimension, item] = text
    return found


def _point_words(material: Material) -> dict[str, Words]:
    found: dict[str, Words] = defaultdict(dict)
    frame = material.source.frame(KEY_POINTS, [material.edition])
    for assignment, number, text in frame.iter_rows():
        found[assignment]["research_gym", "key_point", f"point:{number}"] = text
    return found
