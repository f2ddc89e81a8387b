"""Stage diagnostics: style figures of every text, reported beside the scores."""

from tasks.configuration.words import load_words_to_watch
from tasks.extraction.shape import measure_styles
from tasks.metrics.style import STYLE_VERSION
from tasks.pending.diagnostics import TEXTS
from tasks.processes.pool import HELPERS
from tasks.stage import stage_task
from tasks.warehouse.results import Diagnostic
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


@stage_task("style · {agent}")
async def diagnose_agent(warehouse: Warehouse, edition: str, agent: str) -> None:
    """Replace the diagnostics of one agent's reports (or of the articles)."""
    texts = warehouse.frame(
        f"SELECT assignment, text, text_sha FROM ({TEXTS}) WHERE edition = $1 AND agent = $2 "
        "ORDER BY assignment",
        [edition, agent],
    )
    figures = await HELPERS.run(measure_styles, texts["text"].to_list(), load_words_to_watch())
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
