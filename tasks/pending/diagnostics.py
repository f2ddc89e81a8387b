"""Find texts without current style figures."""

from collections.abc import Sequence

from tasks.metrics.style import STYLE_VERSION
from tasks.warehouse.store import Warehouse

TEXTS = """
SELECT r.edition, r.agent, r.assignment, r.text, r.text_sha
FROM reports AS r JOIN assignments AS a USING (edition, assignment)
WHERE a.kind <> 'find_claims'
UNION ALL
SELECT a.edition, '', a.assignment, t.text, t.text_sha
FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.kind = 'write_article'
"""


def find_pending_diagnostics(
    warehouse: Warehouse, edition: str, agents: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return (agent, assignment) of the texts without current diagnostics; agent '' stands for the
    articles."""
    frame = warehouse.frame(
        f"SELECT agent, assignment FROM ({TEXTS}) AS t WHERE edition = $1 AND NOT EXISTS ("
        "SELECT 1 FROM diagnostics AS d WHERE d.edition = t.edition AND d.agent = t.agent "
        "AND d.assignment = t.assignment AND d.text_sha = t.text_sha AND d.version = $2) "
        "ORDER BY ALL",
        [edition, STYLE_VERSION],
    )
    return [
        (agent, assignment)
        for agent, assignment in frame.iter_rows()
        if not agents or agent in ("", *agents)
    ]
