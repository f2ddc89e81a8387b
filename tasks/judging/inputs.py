"""Reports that came as pictures: the files that stand for their text."""

from collections.abc import Sequence

from tasks.models.attachments import PDF
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.store import Readable

OF_SCANS = """
SELECT f.* FROM report_files AS f JOIN reports AS r USING (edition, agent, assignment)
WHERE f.edition = $1 AND r.status = 'scanned'
ORDER BY f.agent, f.assignment, f.number
"""


def scans(source: Readable, edition: str) -> dict[tuple[str, str], tuple[ReportFile, ...]]:
    """(agent, assignment) → what is shown of a scanned report, in order."""
    files: dict[tuple[str, str], list[ReportFile]] = {}
    for record in source.frame(OF_SCANS, [edition]).iter_rows(named=True):
        file = ReportFile.model_validate(record)
        files.setdefault((file.agent, file.assignment), []).append(file)
    return {key: shown(of_report) for key, of_report in files.items()}


def shown(files: Sequence[ReportFile]) -> tuple[ReportFile, ...]:
    """Of all files of a report those that are shown in place of its text.

    The file itself, where it is a PDF or a picture (whatever pictures a PDF holds are in it); of
    another document, which nobody sees as a whole, the pictures in it.
    """
    itself = [file for file in files if file.number == 0]
    if any(file.media_type == PDF or _is_picture(file) for file in itself):
        return tuple(itself)
    return tuple(file for file in files if file.number > 0 and _is_picture(file))


def _is_picture(file: ReportFile) -> bool:
    return file.media_type.startswith("image/")
