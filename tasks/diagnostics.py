"""Stage diagnostics: style figures of every text, reported beside the scores, never verdicts."""

from collections.abc import Sequence

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration.words import load_words_to_watch
from tasks.extraction.shape import style_figures
from tasks.metrics.style import STYLE_VERSION
from tasks.processes.pool import HELPERS
from tasks.warehouse.results import Diagnostic
from tasks.warehouse.store import Warehouse, opened
from tasks.warehouse.writer import Change

TEXTS = """
SELECT r.edition, r.agent, r.assignment, r.text, r.text_sha
FROM reports AS r JOIN assignments AS a USING (edition, assignment)
WHERE a.kind <> 'find_claims'
UNION ALL
SELECT a.edition, '', a.assignment, t.text, t.text_sha
FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.kind = 'write_article'
"""


def undiagnosed(
    warehouse: Warehouse, edition: str, agents: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Per agent ('' for the articles) the assignments whose text has no current diagnostics."""
    frame = warehouse.frame(
        f"SELECT agent, assignment FROM ({TEXTS}) AS t WHERE edition = $1 AND NOT EXISTS ("
        "SELECT 1 FROM diagnostics AS d WHERE d.edition = t.edition AND d.agent = t.agent "
        "AND d.assignment = t.assignment AND d.text_sha = t.text_sha AND d.version = $2) "
        "ORDER BY ALL",
        [edition, STYLE_VERSION],
    )
    found: dict[str, list[str]] = {}
    for agent, assignment in frame.iter_rows():
        if not agents or agent in ("", *agents):
            found.setdefault(agent, []).append(assignment)
    return found


@task(
    task_run_name="style · {agent}",
    retries=2,
    retry_delay_seconds=1,
    cache_policy=NO_CACHE,
    persist_result=False,
)
async def diagnose_agent(warehouse_path: str, edition: str, agent: str) -> None:
    """Diagnose the texts of one agent (or the articles) and replace what was there."""
    warehouse = opened(warehouse_path)
    texts = warehouse.frame(
        f"SELECT assignment, text, text_sha FROM ({TEXTS}) WHERE edition = $1 AND agent = $2 "
        "ORDER BY assignment",
        [edition, agent],
    )
    figures = await HELPERS.run(style_figures, texts["text"].to_list(), load_words_to_watch())
    rows = [
        Diagnostic(
            edition=edition,
            agent=agent,
            assignment=record["assignment"],
            name=name,
            value=figure.value,
            unit=figure.unit,
            text_sha=record["text_sha"],
            version=STYLE_VERSION,
        )
        for record, of_text in zip(texts.iter_rows(named=True), figures, strict=True)
        for name, figure in sorted(of_text.items())
    ]
    await warehouse.write_async(
        Change(Diagnostic, rows, replacing={"edition": edition, "agent": agent})
    )
