"""Load inputs of cells other than texts: files of scanned reports, and agents' usage."""

from collections.abc import Sequence

from tasks.models.attachments import PDF
from tasks.protocols.case import ReportUsage
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.store import Readable

OF_SCANS = """
SELECT f.* FROM report_files AS f JOIN reports AS r USING (edition, agent, assignment)
WHERE f.edition = $1 AND r.status = 'scanned'
ORDER BY f.agent, f.assignment, f.number
"""


USABLE_DOCUMENTS = """
    SELECT DISTINCT d.assignment, 'documents' AS state
    FROM clicked_documents AS d LEFT JOIN pages AS p USING (edition, url)
    WHERE d.edition = $1 AND (p.url IS NULL OR p.status = 'ok')
"""
"""The assignments of an edition ($1) with clicked documents that were fetched, or may yet be."""


def load_scans(source: Readable, edition: str) -> dict[tuple[str, str], tuple[ReportFile, ...]]:
    """Return (agent, assignment) → the files that judges see of a scanned report, in order."""
    files: dict[tuple[str, str], list[ReportFile]] = {}
    for record in source.frame(OF_SCANS, [edition]).iter_rows(named=True):
        file = ReportFile.model_validate(record)
        files.setdefault((file.agent, file.assignment), []).append(file)
    return {key: select_shown_files(of_report) for key, of_report in files.items()}


def select_shown_files(files: Sequence[ReportFile]) -> tuple[ReportFile, ...]:
    """Select the files of a report that judges see in place of its text.

    These are the file itself if it is a PDF, else the pictures in it or made of it (of BMP and
    TIFF), else the file itself if it is a picture.
    """
    itself = tuple(file for file in files if file.number == 0)
    pictures = tuple(file for file in files if file.number > 0 and _is_picture(file))
    if any(file.media_type == PDF for file in itself):
        return itself
    return pictures or tuple(file for file in itself if _is_picture(file))


def _is_picture(file: ReportFile) -> bool:
    return file.media_type.startswith("image/")


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


def load_usage(source: Readable, edition: str) -> dict[tuple[str, str], ReportUsage]:
    """Return (agent, assignment) → usage, for reports that came from jobs."""
    return {
        (record.pop("agent"), record.pop("assignment")): ReportUsage(**record)
        for record in source.frame(USAGE, [edition]).to_dicts()
    }
