"""Stage diagnostics: style figures of every text, reported beside the scores."""

from collections.abc import Sequence

from tasks.configuration.criteria import load_words_to_watch
from tasks.extraction.shape import measure_styles
from tasks.metrics.style import STYLE_VERSION
from tasks.outcome import PartLeft
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import TEXT_SECONDS, HelperProcesses
from tasks.stage import ARTICLES, Output, Stage, open_alone, split_by
from tasks.warehouse.results import Diagnostic
from tasks.warehouse.store import Readable, Warehouse
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


class MeasuringFailed(PartLeft):
    """The style of some texts could not be measured; they have no figures."""


def find_pending_diagnostics(
    source: Readable, edition: str, agents: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return (agent, assignment) of the texts without current diagnostics; agent '' stands for the
    articles."""
    frame = source.frame(
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


async def diagnose_agent(
    warehouse: Warehouse, helpers: HelperProcesses, edition: str, agent: str
) -> None:
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
            [figures] = await helpers.run(
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
        said = f"{len(problems)} of {len(texts)} texts: {'; '.join(problems[:3])}"
        raise MeasuringFailed(said, left=len(problems))


DIAGNOSTICS = Stage(
    name="diagnostics",
    task="diagnose_agent",
    item="text",
    inputs=("articles", "reports"),
    outputs=(Output("style figure", Diagnostic),),
    is_free=True,
    find_pending=lambda plan: find_pending_diagnostics(
        plan.store, plan.selection.edition, plan.selection.agents
    ),
    open=open_alone(
        lambda run, texts, _: diagnose_agent(
            run.store, run.helpers, run.plan.selection.edition, texts[0][0]
        )
    ),
    split=split_by(lambda text: text[0]),
    title=lambda texts: texts[0][0] or ARTICLES,
    size=len,
)
