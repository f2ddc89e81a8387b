"""What a cell rests on beside texts: files of scanned reports, and what agents say they used."""

from collections.abc import Sequence

from tasks.models.attachments import PDF
from tasks.protocols.case import Usage
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


_SUMS = ", ".join(
    f"CASE WHEN count(j.{name}) = count(*) THEN sum(j.{name})::BIGINT END AS {name}"
    for name in Usage.model_fields
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
"""Summed over the turns of the attempt that the report was made of; null where a turn does not
say. Of an edition ($1)."""
USAGE_SAID = "concat_ws(' ', {})".format(
    ", ".join(
        f"'{name}=' || u.{name}"
        for name in (
            "input_tokens", "output_tokens", "reasoning_tokens", "searches", "reasoning_steps",
        )
    )
)  # fmt: skip
"""A row of it (u) as one text, for hashing: each figure with its name, without those that nobody
says."""


def usage_of(source: Readable, edition: str) -> dict[tuple[str, str], Usage]:
    """(agent, assignment) → what the report took, of reports that were asked for."""
    return {
        (record.pop("agent"), record.pop("assignment")): Usage(**record)
        for record in source.frame(USAGE, [edition]).to_dicts()
    }
