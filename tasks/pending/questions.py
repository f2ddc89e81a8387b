"""Which articles have questions to be made: prefect-free, so that commands start at once."""

from hashlib import sha256

import polars as pl
from pydantic import BaseModel, ConfigDict

from tasks.configuration.inversion import InversionSettings, load_inversion
from tasks.inversion.record import Inversion, inversion_of
from tasks.judges.inversion import Inverter
from tasks.judges.llm.inversion import LlmInverter
from tasks.judges.llm.requests import Asker
from tasks.judges.registry import NoModel, model_entry
from tasks.warehouse.store import Readable

PROGRESS = """
SELECT a.article, a.title, a.text_sha,
    count(*) FILTER (q.inversion_id = i.id AND q.state <> 'open') AS n_decided,
    count(*) FILTER (q.inversion_id = i.id AND q.state = 'open') AS n_open,
    max(q.n_targets) FILTER (q.inversion_id = i.id) AS n_targets,
    count(*) FILTER (q.inversion_id <> i.id AND q.state = 'accepted') AS n_other_accepted
FROM articles AS a
JOIN (SELECT unnest($2) AS article, unnest($3) AS id) AS i USING (article)
LEFT JOIN questions AS q USING (edition, article)
WHERE a.edition = $1
GROUP BY ALL
"""
BECAME = """
SELECT CASE state WHEN 'rejected' THEN reason ELSE state END AS became, count(*) AS questions
FROM questions WHERE edition = $1 GROUP BY ALL ORDER BY questions DESC, became
"""


class PendingArticle(BaseModel):
    """An article that has questions to be made, or to be gone on with."""

    model_config = ConfigDict(frozen=True)

    article: str
    title: str
    inversion: Inversion
    n_decided: int
    """Questions that are accepted or rejected already."""


def inverter_named(judge_name: str, asker: Asker | None = None) -> LlmInverter:
    """The judge as what makes questions.

    Raises:
        Misconfigured: it calls no model, so it cannot.
    """
    name, entry = model_entry(judge_name, "make questions")
    return LlmInverter(name, entry, asker or NoModel())


def pending_articles(
    warehouse: Readable,
    edition: str,
    inverter: Inverter,
    n_articles: int | None = None,
    settings: InversionSettings | None = None,
) -> list[PendingArticle]:
    """Articles whose questions are not all decided, in the order of the lot.

    n_articles: only the first so many of the edition in that order: the same ones, whenever
        asked. An article that has an accepted question of another judge, or of other prompts or
        settings, keeps it and is done.
    """
    chosen = settings or load_inversion()
    articles = warehouse.frame("SELECT article, text_sha FROM articles WHERE edition = $1",
                               [edition])  # fmt: skip
    lot = sorted(
        (
            inversion_of(edition, article, text_sha, inverter, chosen)
            for article, text_sha in articles.iter_rows()
        ),
        key=lambda inversion: sha256(f"{chosen.seed} {inversion.article}".encode()).digest(),
    )[:n_articles]
    if not lot:
        return []
    names, ids = zip(*((i.article, i.inversion_id) for i in lot), strict=True)
    progress = warehouse.frame(PROGRESS, [edition, list(names), list(ids)])
    found = {record["article"]: record for record in progress.iter_rows(named=True)}
    return [
        PendingArticle(
            article=inversion.article,
            title=record["title"],
            inversion=inversion,
            n_decided=record["n_decided"],
        )
        for inversion in lot
        if _is_pending(record := found[inversion.article])
    ]


def _is_pending(record: dict[str, object]) -> bool:
    if record["n_open"]:
        return True
    if record["n_targets"] is None:
        return not record["n_other_accepted"]
    n_decided, n_targets = record["n_decided"], record["n_targets"]
    assert isinstance(n_decided, int)
    assert isinstance(n_targets, int)
    return n_decided < max(n_targets, 1)


def question_counts(source: Readable, edition: str) -> pl.DataFrame:
    """What became of the questions that were made, the most frequent first."""
    return source.frame(BECAME, [edition])


def accepted_message(source: Readable, edition: str) -> str:
    """How many questions of an edition are accepted."""
    counts = question_counts(source, edition)
    accepted = dict(counts.iter_rows()).get("accepted", 0)
    return f"{edition}: {accepted} of {counts['questions'].sum()} questions are accepted."
