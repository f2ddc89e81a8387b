"""What agents' programs could reach while they wrote, where that was more than usual."""

from tasks.publishing.material import SiteMaterial
from tasks.site.wording import format_number

PROGRAMS = """
SELECT agent,
    count(*) FILTER (json_extract_string(parameters, '$.isolation') = 'none') AS n_free,
    count(*) FILTER (
        json_extract_string(parameters, '$.isolation') <> 'none'
        AND json_extract_string(parameters, '$.network') = 'open'
    ) AS n_open,
    count(*) AS n
FROM jobs
WHERE edition = $1 AND kind = 'command' AND state = 'done'
GROUP BY agent ORDER BY agent
"""
"""By the settings that each job was started with, not those of today."""


def load_exposure(material: SiteMaterial) -> dict[str, str]:
    """Return agent → what its programs could reach; those that were held as usual are left out."""
    found = {}
    for row in material.source.frame(PROGRAMS, [material.edition]).iter_rows(named=True):
        parts = []
        if row["n_free"]:
            parts.append(_describe("without isolation, its program", row["n_free"], row["n"]))
        if row["n_open"]:
            parts.append(_describe("its program, with an open network,", row["n_open"], row["n"]))
        if parts:
            found[row["agent"]] = "; ".join(parts)
    return found


def _describe(how: str, n: int, of: int) -> str:
    return f"{how} wrote {format_number(n)} of {format_number(of)} reports"
