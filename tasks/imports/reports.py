"""Importing reports that people already have, as files of any kind.

Every file has been matched to an assignment by its name (`reports_matching`); the certain ones,
and with consent the guessed ones, are read and written, each by itself. Importing the same
files again changes nothing. Plain functions, no agent is asked here.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from tasks.base import Frozen
from tasks.benchmarks.reports import report_status
from tasks.configuration.agents import load_agents
from tasks.configuration.loading import CONFIGS
from tasks.documents.document import MAX_FILE_BYTES, Document, UnreadableDocument
from tasks.documents.kinds import said_kind
from tasks.documents.matching import Match
from tasks.documents.reading import read_document
from tasks.imports.matching import Given, Matched
from tasks.warehouse.files import FileStore, files_folder
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.rows import Agent, ImportIssue, Report, content_sha, storable
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.writer import Change

ASKED = "job "
"""How the source of a report begins that an agent was asked for."""
SCAN = "it is kept as pictures: judges that see get the file, for all others it is not assessed"
REMARK = "file_remark"
KIND_OF: dict[str, str] = {"left out": "file_left_out", "unreadable": "unreadable_file"}
KINDS = frozenset([REMARK, *KIND_OF.values()])
"""Kinds of import issues that are made here; those of other imports stay."""


Outcome = Literal["new", "changed", "unchanged", "left out", "unreadable"]


class FileOutcome(Frozen):
    """What became of one file."""

    agent: str
    path: str
    assignment: str | None
    outcome: Outcome
    remarks: tuple[str, ...] = ()
    """In words: why it was left out, or what of it was not read."""


class ReportsSummary(Frozen):
    """What an import of report files did."""

    edition: str
    outcomes: tuple[FileOutcome, ...]

    def count(self, *outcomes: Outcome) -> int:
        """How many files came to one of these."""
        return sum(found.outcome in outcomes for found in self.outcomes)

    @property
    def complete(self) -> bool:
        """Whether all that was given is in."""
        return not self.count("left out", "unreadable")


def import_reports(
    warehouse: Warehouse,
    matched: Matched,
    accept_guesses: bool = False,
    replace: bool = False,
    on_file: Callable[[FileOutcome, int, int], None] = lambda outcome, done, total: None,
    configs: Path = CONFIGS,
) -> ReportsSummary:
    """Read and write matched files, each by itself, then export the edition's snapshot.

    Args:
        accept_guesses: Whether files matched by number or likeness are taken.
        replace: Whether a report that an agent was asked for may be replaced.
        on_file: Told after each file: what became of it, how many are done and to do.
    """
    importer = _Importer(warehouse, matched.edition, accept_guesses, replace, configs)
    outcomes: list[FileOutcome] = []
    for number, item in enumerate(matched.given, start=1):
        outcomes.append(importer.take(item))
        on_file(outcomes[-1], number, len(matched.given))
    for agent in sorted({item.agent for item in matched.given}):
        _write_issues(warehouse, matched, agent, [o for o in outcomes if o.agent == agent])
    export_edition(warehouse, matched.edition)
    return ReportsSummary(edition=matched.edition, outcomes=tuple(outcomes))


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UnreadableDocument(
                f"it has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read. Make its pictures "
                "smaller, or export it as Markdown."
            )
        return file.read_bytes()
    except OSError as error:
        raise UnreadableDocument(
            f"it cannot be opened ({error.strerror or error}). Fix its permissions."
        ) from None


class _Importer:
    """Takes files one after the other; what goes wrong with one says nothing of the others."""

    def __init__(
        self,
        warehouse: Warehouse,
        edition: str,
        accept_guesses: bool,
        replace: bool,
        configs: Path,
    ) -> None:
        self._warehouse = warehouse
        self._edition = edition
        self._accept_guesses = accept_guesses
        self._replace = replace
        self._names = {name: entry.name for name, entry in load_agents(configs).agents.items()}
        self._kept = FileStore(files_folder(warehouse.location))
        self._questions = set(
            warehouse.frame(
                "SELECT assignment FROM assignments WHERE edition = $1 AND kind = 'find_claims'",
                [edition],
            )["assignment"]
        )

    def take(self, item: Given) -> FileOutcome:
        """Read one file and write its report."""
        try:
            said_kind(item.file.name)
        except UnreadableDocument as error:
            return self._outcome(item, "unreadable", str(error))
        assignment, before = item.match.assignment, self._before(item)
        reason = self._left_out(item.match, before)
        if assignment is None or reason is not None:
            return self._outcome(item, "left out", reason or "it answers no assignment")
        try:
            content = _content(item.file)
            document = read_document(item.file.name, content)
        except UnreadableDocument as error:
            return self._outcome(item, "unreadable", str(error))
        report = self._report(item, assignment, document)
        files = self._files(item, assignment, content, document)
        if before is None or (before, files) != (report, self._stored_files(report)):
            self._write(report, files, before)
        outcome: Outcome = (
            "new"
            if before is None
            else "unchanged"
            if (before.text_sha, before.status) == (report.text_sha, report.status)
            else "changed"
        )
        scan = (SCAN,) if report.status == "scanned" else ()
        return self._outcome(item, outcome, *document.page_remarks, *document.remarks, *scan)

    def _left_out(self, match: Match, before: Report | None) -> str | None:
        """Why a file is not read at all; None if it is."""
        if match.assignment is None:
            return match.problem
        if match.guessed and not self._accept_guesses:
            return f"{match.assignment} is a guess, by {match.how}: agree with --yes"
        if before is not None and before.source_path.startswith(ASKED) and not self._replace:
            return (
                f"{match.assignment} has a report that {before.agent} was asked for: replace it "
                "with --replace"
            )
        return None

    def _before(self, item: Given) -> Report | None:
        where = "edition = $1 AND agent = $2 AND assignment = $3"
        key = [self._edition, item.agent, item.match.assignment]
        return next(iter(self._warehouse.rows(Report, where, key)), None)

    def _stored_files(self, report: Report) -> list[ReportFile]:
        return self._warehouse.rows(
            ReportFile,
            "edition = $1 AND agent = $2 AND assignment = $3",
            [report.edition, report.agent, report.assignment],
        )

    def _report(self, item: Given, assignment: str, document: Document) -> Report:
        text = "" if document.scanned else document.markdown
        # An answer in JSON is no question back, whatever it asks.
        status = "ok" if assignment in self._questions else report_status(text)
        return Report(
            edition=self._edition,
            agent=item.agent,
            assignment=assignment,
            text=text,
            text_sha=content_sha(text),
            status="scanned" if document.scanned else status,
            source_path=storable(item.path),
        )

    def _files(
        self, item: Given, assignment: str, content: bytes, document: Document
    ) -> list[ReportFile]:
        """The file and the pictures in it, kept on disk before their rows are written."""
        unread = len(document.unread_pages)
        parts = [(item.file.name, document.media_type, content)]
        parts += [(p.name, p.media_type, p.content) for p in document.pictures]
        return [
            ReportFile(
                edition=self._edition,
                agent=item.agent,
                assignment=assignment,
                number=number,
                name=storable(name),
                media_type=media_type,
                sha=self._kept.put(part),
                n_bytes=len(part),
                n_pages=None if number else document.n_pages,
                n_unreadable_pages=None if number or document.n_pages is None else unread,
                reader=document.reader,
            )
            for number, (name, media_type, part) in enumerate(parts)
        ]

    def _write(self, report: Report, files: Sequence[ReportFile], before: Report | None) -> None:
        key = {
            "edition": report.edition,
            "agent": report.agent,
            "assignment": report.assignment,
        }
        name = self._names.get(report.agent, report.agent)
        changes = [
            Change(Agent, [Agent(edition=report.edition, agent=report.agent, name=name)],
                   only_new=True),
            Change(Report, [report]),
            Change(ReportFile, files, replacing=key),
        ]  # fmt: skip
        if before is not None and before.source_path.startswith(ASKED):
            # How the agent searched belongs to the report that is replaced.
            changes.append(Change(SearchTrace, [], replacing={**key, "source": "agent"}))
        self._warehouse.write(*changes)

    def _outcome(self, item: Given, outcome: Outcome, *remarks: str) -> FileOutcome:
        return FileOutcome(
            agent=item.agent,
            path=storable(item.path),
            assignment=item.match.assignment,
            outcome=outcome,
            remarks=remarks,
        )


def _write_issues(
    warehouse: Warehouse, matched: Matched, agent: str, outcomes: Sequence[FileOutcome]
) -> None:
    """Replace what earlier imports of these files had to say; other issues of the agent stay."""
    paths = {outcome.path for outcome in outcomes}
    stored = warehouse.rows(ImportIssue, "edition = $1 AND scope = $2", [matched.edition, agent])
    staying = [
        issue
        for issue in stored
        if issue.kind not in KINDS or (not matched.folder and issue.path not in paths)
    ]
    made = [
        ImportIssue(
            edition=matched.edition,
            scope=agent,
            path=outcome.path,
            kind=KIND_OF.get(outcome.outcome, REMARK),
            severity="unreadable" if outcome.outcome in KIND_OF else "remark",
            message="; ".join(outcome.remarks),
        )
        for outcome in outcomes
        if outcome.remarks
    ]
    if made or len(staying) != len(stored):
        key = {"edition": matched.edition, "scope": agent}
        warehouse.write(Change(ImportIssue, [*staying, *made], replacing=key))
