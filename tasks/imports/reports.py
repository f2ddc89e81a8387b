"""Import of reports that people already have, as files of any kind.

Every file has been matched to an assignment by its name (`matching`). Certain matches, and guesses
with consent, are read and written one by one. Importing the same files again changes nothing. No
agent is called here.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from tasks.agents.registry import find_agent_name
from tasks.base import Frozen
from tasks.benchmarks.reports import report_status
from tasks.documents.document import MAX_FILE_BYTES, ParsedDocument, UnreadableDocument, parse_kind
from tasks.documents.reading import check_size, read_document
from tasks.extraction.understanding import describe_in_helper
from tasks.files.opening import OutsideFile, SpecialFile, open_file
from tasks.imports.answers import find_questions
from tasks.imports.matching import MatchedFile, MatchedFiles
from tasks.processes.pool import HelperProcesses
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.contents import FileStore, files_folder
from tasks.warehouse.jobs import ImportIssue, ReportFile
from tasks.warehouse.replaced_reports import remove_judgement
from tasks.warehouse.rows import Agent, Report, content_sha, replace_surrogates
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.writer import Change

JOB_PREFIX = "job "
"""The beginning of `Report.source_path` for reports requested from an agent."""
SCAN = "it has no text: judges that read its media type get the file, others cannot assess it"
REMARK = "file_remark"
ISSUE_KINDS: dict[str, str] = {"left out": "file_left_out", "unreadable": "unreadable_file"}
OF_REPORT = "edition = $1 AND agent = $2 AND assignment = $3"
FILE_ISSUE_KINDS = frozenset([REMARK, *ISSUE_KINDS.values()])
"""The kinds of import issues made here; those of other imports are kept."""


Outcome = Literal["new", "changed", "unchanged", "left out", "unreadable"]


class FileOutcome(Frozen):
    """The outcome of importing one file."""

    agent: str
    path: str
    assignment: str | None
    outcome: Outcome
    remarks: tuple[str, ...] = ()
    """Why it was left out, or what was not read."""
    understood: str | None = None
    """What the offline extractor finds in a report; None if it was not asked, or need not look."""


class ReportsSummary(Frozen):
    """The result of importing report files."""

    edition: str
    outcomes: tuple[FileOutcome, ...]

    def count(self, *outcomes: Outcome) -> int:
        """Count the files with one of these outcomes."""
        return sum(found.outcome in outcomes for found in self.outcomes)

    @property
    def complete(self) -> bool:
        """Whether all files were imported."""
        return not self.count("left out", "unreadable")


def import_reports(
    warehouse: Warehouse,
    matched: MatchedFiles,
    accept_guesses: bool = False,
    replace: bool = False,
    on_file: Callable[[FileOutcome, int, int], None] = lambda outcome, done, total: None,
    *,
    understand: bool = False,
    dry_run: bool = False,
) -> ReportsSummary:
    """Import matched files one by one, then export the edition's snapshot.

    Args:
        accept_guesses: also import files matched by number or similarity; those that were
            accepted before need it no more.
        replace: also replace reports that were requested from an agent.
        on_file: called after each file with its outcome, the number done, and the total.
        understand: have the offline extractor look at each report, in a helper process.
        dry_run: keep nothing; the outcomes are those of an import.
    """
    outcomes: list[FileOutcome] = []
    with closing(HelperProcesses(1)) as helpers:
        importer = _Importer(
            warehouse, matched, accept_guesses, replace, helpers if understand else None, dry_run
        )
        for number, item in enumerate(matched.files, start=1):
            outcomes.append(importer.import_file(item))
            on_file(outcomes[-1], number, len(matched.files))
    if not dry_run:
        for agent in sorted({item.agent for item in matched.files}):
            _write_issues(warehouse, matched, agent, [o for o in outcomes if o.agent == agent])
        export_edition(warehouse, matched.edition)
    return ReportsSummary(edition=matched.edition, outcomes=tuple(outcomes))


def _read_content(path: Path, folder: Path | None) -> bytes:
    try:
        with open_file(path, within=folder) as file:
            check_size(os.fstat(file.fileno()).st_size)
            return file.read(MAX_FILE_BYTES + 1)
    except (OutsideFile, SpecialFile) as error:
        raise UnreadableDocument(f"{error}. Put the file itself there.") from None
    except OSError as error:
        raise UnreadableDocument(
            f"it cannot be opened ({error.strerror or error}). Fix its permissions."
        ) from None


@dataclass
class _Importer:
    """Imports files one by one; a failure of one does not affect the others."""

    warehouse: Warehouse
    matched: MatchedFiles
    accept_guesses: bool
    replace: bool
    helpers: HelperProcesses | None
    """For the offline extractor; None: it does not look at reports."""
    dry_run: bool

    def __post_init__(self) -> None:
        self._edition = self.matched.edition
        self._file_store = FileStore(files_folder(self.warehouse.location))
        self._questions = find_questions(self.warehouse, self._edition)
        self._guard = KeyGuard()

    def import_file(self, item: MatchedFile) -> FileOutcome:
        """Read a file and write its report."""
        try:
            parse_kind(item.file.name)
        except UnreadableDocument as error:
            return self._make_outcome(item, "unreadable", str(error))
        assignment = item.match.assignment
        stored = self.warehouse.rows(Report, OF_REPORT, [self._edition, item.agent, assignment])
        before = next(iter(stored), None)
        reason = self._find_skip_reason(item, before)
        if assignment is None or reason is not None:
            return self._make_outcome(item, "left out", reason or "it answers no assignment")
        try:
            content = _read_content(item.file, self.matched.folder)
            document = read_document(item.file.name, content)
        except UnreadableDocument as error:
            return self._make_outcome(item, "unreadable", str(error))
        read = f"{document.markdown}\n{content.decode('utf-8', 'replace')}"
        if leaked := self._guard.hide_own(read)[1]:
            problem = f"it holds the value of {', '.join(leaked)}: take it out, replace that key"
            return self._make_outcome(item, "left out", problem)
        report = self._make_report(item, assignment, document)
        if not self.dry_run:
            self._write(report, self._make_files(item, assignment, content, document), before)
        outcome: Outcome = (
            "new"
            if before is None
            else "unchanged"
            if (before.text_sha, before.status) == (report.text_sha, report.status)
            else "changed"
        )
        scan = (SCAN,) if report.status == "scanned" else ()
        made = self._make_outcome(item, outcome, *document.page_remarks, *document.remarks, *scan)
        if self.helpers is None or scan or assignment in self._questions:
            return made
        return made.model_copy(update={"understood": describe_in_helper(self.helpers, report.text)})

    def _find_skip_reason(self, item: MatchedFile, before: Report | None) -> str | None:
        """Return why a file is left out; None if it is imported."""
        match = item.match
        if match.assignment is None:
            return match.problem
        accepted = before is not None and before.source_path == replace_surrogates(item.path)
        if match.is_guess and not (self.accept_guesses or accepted):
            return f"{match.assignment} is a guess, by {match.how}: agree with --yes"
        if before is not None and before.source_path.startswith(JOB_PREFIX) and not self.replace:
            return (
                f"{match.assignment} has a report requested from {before.agent}: replace it with "
                "--replace"
            )
        return None

    def _make_report(self, item: MatchedFile, assignment: str, document: ParsedDocument) -> Report:
        text = "" if document.scanned else document.markdown
        # An answer in JSON is not a clarification, whatever it asks.
        is_answer = assignment in self._questions and text.strip()
        status = "ok" if is_answer else report_status(text)
        return Report(
            edition=self._edition,
            agent=item.agent,
            assignment=assignment,
            text=text,
            text_sha=content_sha(text),
            status="scanned" if document.scanned else status,
            source_path=replace_surrogates(item.path),
        )

    def _make_files(
        self, item: MatchedFile, assignment: str, content: bytes, document: ParsedDocument
    ) -> list[ReportFile]:
        """Store the file and its pictures, and make their rows."""
        unread = len(document.unread_pages)
        parts = [(item.file.name, document.media_type, content)]
        parts += [(p.name, p.media_type, p.content) for p in document.pictures]
        return [
            ReportFile(
                edition=self._edition,
                agent=item.agent,
                assignment=assignment,
                number=number,
                name=replace_surrogates(name),
                media_type=media_type,
                sha=self._file_store.put(part),
                n_bytes=len(part),
                n_pages=None if number else document.n_pages,
                n_unreadable_pages=None if number or document.n_pages is None else unread,
                reader=document.reader,
            )
            for number, (name, media_type, part) in enumerate(parts)
        ]

    def _write(self, report: Report, files: Sequence[ReportFile], before: Report | None) -> None:
        """Write a report and its files, unless they are there."""
        key = {"edition": report.edition, "agent": report.agent, "assignment": report.assignment}
        stored = self.warehouse.rows(ReportFile, OF_REPORT, [*key.values()])
        if report.status == "scanned" and stored[:1] == files[:1]:
            files = stored  # another version of Pillow may write other bytes of the same picture
        if before is not None and (before, files) == (report, stored):
            return
        name = find_agent_name(report.agent)
        agent = Agent(edition=report.edition, agent=report.agent, name=name)
        changes = [
            Change(Agent, [agent], only_new=True),
            Change(Report, [report]),
            Change(ReportFile, files, replacing=key),
        ]
        if before is not None and before.text_sha != report.text_sha:
            changes += remove_judgement(report)
        if before is not None and before.source_path.startswith(JOB_PREFIX):
            # The search trace belongs to the replaced report.
            changes.append(Change(SearchTrace, [], replacing={**key, "source": "agent"}))
        self.warehouse.write(*changes)

    def _make_outcome(self, item: MatchedFile, outcome: Outcome, *remarks: str) -> FileOutcome:
        return FileOutcome(
            agent=item.agent,
            path=replace_surrogates(item.path),
            assignment=item.match.assignment,
            outcome=outcome,
            remarks=remarks,
        )


def _write_issues(
    warehouse: Warehouse, matched: MatchedFiles, agent: str, outcomes: Sequence[FileOutcome]
) -> None:
    """Replace the issues of earlier imports of these files; keep the agent's other issues.

    A file has the name of an earlier one in another format or folder: it came in its place.
    """
    names = {PurePath(outcome.path).stem for outcome in outcomes}
    stored = warehouse.rows(ImportIssue, "edition = $1 AND scope = $2", [matched.edition, agent])
    staying = [
        issue
        for issue in stored
        if issue.kind not in FILE_ISSUE_KINDS
        or (matched.folder is None and PurePath(issue.path).stem not in names)
    ]
    made = [
        ImportIssue(
            edition=matched.edition,
            scope=agent,
            path=outcome.path,
            kind=ISSUE_KINDS.get(outcome.outcome, REMARK),
            severity="unreadable" if outcome.outcome in ISSUE_KINDS else "remark",
            message="; ".join(outcome.remarks),
        )
        for outcome in outcomes
        if outcome.remarks
    ]
    if made or len(staying) != len(stored):
        key = {"edition": matched.edition, "scope": agent}
        warehouse.write(Change(ImportIssue, [*staying, *made], replacing=key))
