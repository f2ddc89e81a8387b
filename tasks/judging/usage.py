"""What agents say that their reports took: tokens, searches, steps."""

from tasks.protocols.case import Usage
from tasks.warehouse.store import Readable

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
