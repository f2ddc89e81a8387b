"""Stage diagnostics: style figures of every text, reported beside the scores."""

from tasks.configuration.words import load_words_to_watch
from tasks.extraction.shape import measure_styles
from tasks.metrics.style import STYLE_VERSION
from tasks.pending.evaluation import TEXTS
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HELPERS, TEXT_SECONDS
from tasks.stage import is_transient, stage_task
from tasks.warehouse.results import Diagnostic
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


class MeasuringFailed(Exception):
    """The style of some texts could not be measured; they have no figures."""


@stage_task("style · {agent}", retry_condition_fn=is_transient)
async def diagnose_agent(warehouse: Warehouse, edition: str, agent: str) -> None:
    """Replace the diagnostics of one agent's reports (or of the articles).

    Raises:
        MeasuringFailed: some texts took too long; the others are done.
    """
    texts = warehouse.frame(
        f"SELECT assignment, text, text_sha FROM ({TEXTS}) WHERE edition = $1 AND agent = $2 "
        "ORDER BY assignment",
        [edition, agent],
    )
    words = load_words_to_watch()
    measured, problems = [], []
    # One by one, so that slow texts of an agent keep one helper busy and leave the others.
    for record in texts.iter_rows(named=True):
        try:
            [figures] = await HELPERS.run(
                measure_styles, [record["text"]], words, seconds=TEXT_SECONDS
            )
        except (LimitExceeded, HelperFailed) as error:
            problems.append(f"{record['assignment']}: measuring its style {error}")
        else:
            measured.append((record, figures))
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
        for record, of_text in measured
        for name, figure in sorted(of_text.items())
    ]
    await warehouse.write_async(
        Change(Diagnostic, rows, replacing={"edition": edition, "agent": agent})
    )
    if problems:
        raise MeasuringFailed(f"{len(problems)} of {len(texts)} texts: {'; '.join(problems[:3])}")
