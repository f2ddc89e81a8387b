"""Load inputs of cells other than texts and files: agents' usage."""

from tasks.protocols.case import ReportUsage
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


def load_usage(source: Readable, edition: str) -> dict[tuple[str, str], ReportUsage]:
    """Return (agent, assignment) → usage, for reports that came from jobs."""
    return {
        (record.pop("agent"), record.pop("assignment")): ReportUsage(**record)
        for record in source.frame(USAGE, [edition]).to_dicts()
    }
