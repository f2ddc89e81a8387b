"""Reading of an agent's reports in a published edition: Markdown, and what the JSON adds.

The Markdown is the report. The JSON's `extract` is the same text without citation markers and
reference list: of the 202 published ones none equals its Markdown, and none has a word that the
Markdown lacks. An extract with other words gets a remark, because its claims may be from another
report.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tasks.benchmarks.document import ReportDocument, parse_document, parse_pages, select_copies
from tasks.benchmarks.errors import UnreadableFileError
from tasks.benchmarks.layout import Issues, Layout
from tasks.benchmarks.published_claims import PublishedClaims, parse_claims
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Agent, Citation, Claim, Extraction, Report, content_sha

MAX_CLARIFICATION_CHARACTERS = 2_000
"""Longer texts are reports, even if they ask something; the published question has 812."""

MAX_FOREIGN_WORDS = 0.05
"""The share of an extract's distinct words that its Markdown may lack; in published ones 0."""

_ASKS_BACK = re.compile(
    r"\b(?:if|once|when) you (?:can |could |would )?(?:please )?"
    r"(?:confirm|clarify|specify|provide|share|tell me|let me know)\b"
    r"|\b(?:could|can|would|will) you (?:please )?"
    r"(?:confirm|clarify|specify|provide|share|tell me|let me know)\b"
    r"|\bplease (?:confirm|clarify|specify|tell me|let me know)\b"
    r"|\b(?:would you like me to|do you want me to|which one do you mean)\b",
    re.IGNORECASE,
)
_HEADING_OR_URL = re.compile(r"^ {0,3}#{1,6}\s|https?://", re.MULTILINE)
_WORD = re.compile(r"\w+")


@dataclass
class AgentReports:
    """An agent's part of a published edition."""

    reports: list[Report] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    extractions: list[Extraction] = field(default_factory=list)
    """One for each report with published claims; others are extracted offline."""
    pages: Sequence[Page] = ()
    issues: Sequence[ImportIssue] = ()


def report_status(text: str) -> Literal["ok", "empty", "clarification"]:
    """Classify a report's text. A clarification is short, without headings or URLs, and asks for
    something.

    Among the 552 published reports it correctly finds 1 empty one and 1 clarification.
    """
    if not text.strip():
        return "empty"
    if len(text) > MAX_CLARIFICATION_CHARACTERS or _HEADING_OR_URL.search(text):
        return "ok"
    return "clarification" if _ASKS_BACK.search(text) else "ok"


class AgentReader:
    """Reads one agent's rows."""

    def __init__(self, layout: Layout, agent: Agent, articles: frozenset[str]) -> None:
        self.layout = layout
        self.agent = agent
        self.articles = articles
        self._folder = f"test_data/{agent.agent}"
        self._issues = Issues(agent.edition)
        self._rows = AgentReports()
        self._copies: list[Page] = []

    def read(self) -> AgentReports:
        """Read all reports, sorted by article."""
        texts = self.layout.list_files(f"{self._folder}/md_data", ".md")
        documents = self.layout.list_files(f"{self._folder}/json_data", ".json")
        for name, path in sorted(texts.items()):
            if name in self.articles:
                self._read_report(name, path, documents)
        self._remark_on_strays(texts, documents)
        self._remark_on_agent()
        self._rows.pages = select_copies(self._copies)
        self._rows.issues = self._issues.rows()
        return self._rows

    def _read_report(self, name: str, path: str, documents: dict[str, str]) -> None:
        text = self._issues.read(self.layout.read_text, path, "The report is left out")
        if text is None:
            return
        report = self._make_report(name, path, text)
        self._rows.reports.append(report)
        if name in documents:
            self._read_document(report, documents[name])
        elif documents:
            self._issues.add_remark(
                path,
                "no_json",
                f"{path} has no JSON in json_data; its claims are extracted offline.",
            )

    def _make_report(self, name: str, path: str, text: str) -> Report:
        status = report_status(text)
        if status == "empty":
            self._issues.add_remark(
                path, "empty", f"{path} is empty; it counts as an empty report."
            )
        elif status == "clarification":
            message = f"{path} asks a question back instead of reporting; it is judged as it is."
            self._issues.add_remark(path, "clarification", message)
        return Report(
            edition=self.agent.edition,
            agent=self.agent.agent,
            assignment=name,
            text=text,
            text_sha=content_sha(text),
            status=status,
            source_path=path,
        )

    def _read_document(self, report: Report, path: str) -> None:
        try:
            read = parse_document(self.layout.read_json(path))
        except UnreadableFileError as error:
            message = f"The report is imported without its published claims and pages: {error}"
            self._issues.add_unreadable(path, error.kind, message)
            return
        if read is None:
            self._issues.add_unreadable(
                path,
                "unknown_json",
                f"{path} has no statements, citation_urls or citation_contents under "
                "query.pages; the report's claims are extracted offline. Download it again.",
            )
            return
        self._add_pages(read, path)
        self._add_claims(report, read, path)

    def _add_pages(self, read: ReportDocument, path: str) -> None:
        pages, n_skipped = parse_pages(self.agent.edition, read)
        self._copies += pages
        if n_skipped:
            message = f"{path}: {n_skipped} archived pages without a usable URL are left out."
            self._issues.add_remark(path, "pages_without_url", message)
        if not read.citation_contents:
            self._issues.add_remark(path, "no_pages", f"{path} archives no pages.")

    def _add_claims(self, report: Report, read: ReportDocument, path: str) -> None:
        published = parse_claims(report, read)
        if published is None:
            if read.statements is not None:
                message = f"{path} lists no claims; they are extracted offline."
                self._issues.add_remark(path, "no_claims", message)
            return
        self._rows.claims.extend(published.claims)
        self._rows.citations.extend(published.citations)
        self._rows.extractions.append(published.extraction)
        self._remark_on_claims(report, read, published, path)

    def _remark_on_claims(
        self, report: Report, read: ReportDocument, published: PublishedClaims, path: str
    ) -> None:
        if read.n_unusable:
            message = f"{path}: {read.n_unusable} statements without a text are left out."
            self._issues.add_remark(path, "unusable_claims", message)
        if published.n_no_address:
            message = f"{path}: {published.n_no_address} citations are no usable URL; left out."
            self._issues.add_remark(path, "no_address", message)
        if published.n_foreign:
            self._issues.add_remark(
                path,
                "foreign_url",
                f"{path}: {published.n_foreign} citations have a URL that is not in the report "
                "(misspelled or invented by the published extraction); left out.",
            )
        words = set(_WORD.findall(read.extract.lower()))
        foreign = words - set(_WORD.findall(report.text.lower()))
        if words and len(foreign) / len(words) > MAX_FOREIGN_WORDS:
            self._issues.add_remark(
                path,
                "extract_differs",
                f"{path}: its extract has words that {report.source_path} does not; the Markdown "
                "counts as the report, but the published claims may be from another text.",
            )

    def _remark_on_strays(self, texts: dict[str, str], documents: dict[str, str]) -> None:
        for name in sorted(set(texts) - self.articles):
            self._issues.add_unreadable(
                texts[name],
                "unknown_article",
                f"{texts[name]} is left out: the edition has no readable article {name}. Correct "
                "the file name or add the article.",
            )
        for name in sorted(set(documents) - set(texts)):
            message = f"{documents[name]} is left out: there is no Markdown report of that name."
            self._issues.add_unreadable(documents[name], "json_without_report", message)
        missing = sorted(self.articles - set(texts))
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            self._issues.add_remark(
                f"{self._folder}/md_data",
                "missing_reports",
                f"{self.agent.agent} has no report on {len(missing)} of {len(self.articles)} "
                f"articles: {', '.join(missing[:5])}{more}.",
            )

    def _remark_on_agent(self) -> None:
        with_urls = sum("http://" in r.text or "https://" in r.text for r in self._rows.reports)
        if self.agent.declares_citations is False and with_urls:
            self._issues.add_remark(
                self._folder,
                "undeclared_citations",
                f"agencies.json says that {self.agent.agent} does not cite, yet {with_urls} of "
                f"{len(self._rows.reports)} reports have URLs; agencies.json is ignored.",
            )
