"""Inputs of cells other than texts: agents' usage, and the files of reports that a judge is shown,
in place of their text or beside it."""

from collections.abc import Collection, Mapping, Sequence

from tasks.base import Frozen
from tasks.judges.decisions import Judge
from tasks.judges.llm.prompts import (
    PICTURES_WORDING,
    choose_wording,
    find_attachment_problem,
    load_wording,
)
from tasks.models.attachments import MAX_ATTACHMENT_BYTES, PDF
from tasks.protocols.case import ReportUsage
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

USABLE_DOCUMENTS = """
    SELECT DISTINCT d.assignment, 'documents' AS state
    FROM clicked_documents AS d LEFT JOIN pages AS p USING (edition, url)
    WHERE d.edition = $1 AND (p.url IS NULL OR p.status = 'ok')
"""
"""The assignments of an edition ($1) with clicked documents that were fetched, or may yet be."""

_SUMS = ", ".join(
    f"CASE WHEN count(j.{name}) = count(*) THEN sum(j.{name})::BIGINT END AS {name}"
    for name in ReportUsage.model_fields
)
USAGE = f"""
    SELECT j.agent, j.assignment, {_SUMS}
    FROM jobs AS j
    JOIN reports AS r USING (edition, agent, assignment)
    JOIN jobs AS last ON last.edition = j.edition AND last.agent = j.agent
        AND last.assignment = j.assignment AND last.attempt = j.attempt
        AND r.source_path = 'job ' || last.job
    WHERE j.edition = $1
    GROUP BY ALL
"""
"""Usage per report of an edition ($1), summed over the turns of its attempt; null where a turn has
none."""
USAGE_TEXT = "concat_ws(' ', {})".format(
    ", ".join(
        f"'{name}=' || u.{name}"
        for name in (
            "input_tokens", "output_tokens", "reasoning_tokens", "searches", "reasoning_steps",
        )
    )
)  # fmt: skip
"""A usage row (u) as text for hashing: `name=value` of each known figure."""
MAX_SHOWN_PICTURES = 50
"""Pictures of a report that go along with its text, the first ones: some 70,000 tokens."""
FILES = """
SELECT f.* FROM report_files AS f
JOIN reports AS r USING (edition, agent, assignment)
JOIN report_files AS itself ON itself.edition = f.edition AND itself.agent = f.agent
    AND itself.assignment = f.assignment AND itself.number = 0
WHERE f.edition = $1 AND (
    r.status = 'scanned'
    OR $2 AND r.status = 'ok' AND ends_with(r.source_path, itself.name)
)
ORDER BY f.agent, f.assignment, f.number
"""
"""A report that was asked for later leaves the files of an imported one; its path tells."""
ReportFiles = Mapping[tuple[str, str], Sequence[ReportFile]]


def load_usage(source: Readable, edition: str) -> dict[tuple[str, str], ReportUsage]:
    """Return (agent, assignment) → usage, for reports that came from jobs."""
    return {
        (record.pop("agent"), record.pop("assignment")): ReportUsage(**record)
        for record in source.frame(USAGE, [edition]).to_dicts()
    }


SCANS, PDFS, PICTURES = FILE_INPUTS = ("files", "pdfs", "pictures")
"""A protocol's inputs that are files: scans, PDFs with text, and pictures in reports with text.
They are in the ids of those cells alone whose judge is shown one."""


class ShownFiles(Frozen):
    """The files of a report that a judge is shown."""

    instead: tuple[ReportFile, ...] = ()
    """In place of its text: a scan, or a PDF."""
    beside: tuple[ReportFile, ...] = ()
    """Beside its text: pictures in it."""


def load_report_files(source: Readable, edition: str, inputs: Collection[str]) -> ReportFiles:
    """Return (agent, assignment) → files in order, of scans and, if a protocol with these inputs
    shows files of reports with text, of these too."""
    files: dict[tuple[str, str], list[ReportFile]] = {}
    of_texts = PDFS in inputs or PICTURES in inputs
    for record in source.frame(FILES, [edition, of_texts]).iter_rows(named=True):
        file = ReportFile.model_validate(record)
        files.setdefault((file.agent, file.assignment), []).append(file)
    return files


def choose_files(
    files: Sequence[ReportFile], *, scanned: bool, inputs: Collection[str], judge: Judge
) -> ShownFiles:
    """Choose what a judge is shown of a report's files.

    Of a report with text a judge that cannot read a file is shown the text, as without the file.
    """
    if scanned:
        return ShownFiles(instead=_select_scan(files))
    pdf = tuple(file for file in files if file.number == 0 and file.media_type == PDF)
    if PDFS in inputs and pdf and not find_attachment_problem(judge.name, judge.reads, pdf):
        return ShownFiles(instead=pdf)
    if PICTURES in inputs:
        return ShownFiles(beside=_select_pictures(files, judge.reads))
    return ShownFiles()


def add_files(record: dict[str, object], shown: ShownFiles, prompts: str, prompt_sha: str) -> str:
    """Add the shown files to a cell's inputs; return the prompts' sha with the files' wording."""
    if shown.instead:
        files = shown.instead
        record[SCANS] = content_sha(*(f"{f.media_type} {f.n_pages} {f.sha}" for f in files))
        return content_sha(prompt_sha, load_wording(choose_wording(prompts)).sha)
    if shown.beside:
        files = shown.beside
        record[PICTURES] = content_sha(*(f"{f.name} {f.media_type} {f.sha}" for f in files))
        return content_sha(prompt_sha, load_wording(PICTURES_WORDING).sha)
    return prompt_sha


def _select_scan(files: Sequence[ReportFile]) -> tuple[ReportFile, ...]:
    """Select the files of a report that judges see in place of its text.

    These are the file itself if it is a PDF, else the pictures in it or made of it (of BMP and
    TIFF), else the file itself if it is a picture.
    """
    itself = tuple(file for file in files if file.number == 0)
    pictures = tuple(file for file in files if file.number > 0 and _is_picture(file))
    if any(file.media_type == PDF for file in itself):
        return itself
    return pictures or tuple(file for file in itself if _is_picture(file))


def _select_pictures(files: Sequence[ReportFile], reads: Collection[str]) -> tuple[ReportFile, ...]:
    """Select the pictures in a report that a judge reads, up to the limits of a request."""
    chosen: list[ReportFile] = []
    n_bytes = 0
    for file in files:
        fits = n_bytes + file.n_bytes <= MAX_ATTACHMENT_BYTES and len(chosen) < MAX_SHOWN_PICTURES
        if file.number > 0 and _is_picture(file) and file.media_type in reads and fits:
            chosen.append(file)
            n_bytes += file.n_bytes
    return tuple(chosen)


def _is_picture(file: ReportFile) -> bool:
    return file.media_type.startswith("image/")
