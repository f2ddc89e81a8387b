"""Find articles whose questions are to be made. Prefect-free, so that commands start fast."""

from hashlib import sha256

import polars as pl

from tasks.base import Frozen
from tasks.configuration.inversion import load_inversion
from tasks.inversion.rows import Inversion, create_inversion
from tasks.judges.decisions import VersionedJudge
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.llm.requests import RequestSender
from tasks.judges.registry import NoModel, load_model_entry
from tasks.warehouse.store import Readable

PENDING = """
WITH progress AS (
    SELECT a.article, a.title,
        count(*) FILTER (q.inversion_id = i.id AND q.state <> 'open') AS n_decided,
        count(*) FILTER (q.inversion_id = i.id AND q.state = 'open') AS n_open,
        max(q.n_targets) FILTER (q.inversion_id = i.id) AS n_targets,
        count(*) FILTER (q.inversion_id <> i.id AND q.state = 'accepted') AS n_other_accepted
    FROM articles AS a
    JOIN (SELECT unnest($2) AS article, unnest($3) AS id) AS i USING (article)
    LEFT JOIN questions AS q USING (edition, article)
    WHERE a.edition = $1
    GROUP BY ALL
)
SELECT article, title FROM progress
WHERE n_open > 0 OR CASE WHEN n_targets IS NULL THEN n_other_accepted = 0
    ELSE n_decided < greatest(n_targets, 1) END
"""
STATE_COUNTS = """
SELECT CASE state WHEN 'rejected' THEN reason ELSE state END AS became, count(*) AS questions
FROM questions WHERE edition = $1 GROUP BY ALL ORDER BY questions DESC, became
"""


class PendingArticle(Frozen):
    """An article with questions that are to be made or decided."""

    title: str
    inversion: Inversion


def get_inverter(judge_name: str, sender: RequestSender | None = None) -> LlmJudge:
    """Return the inverter that makes questions with this judge's model.

    Raises:
        Misconfigured: the judge calls no model.
    """
    name, entry = load_model_entry(judge_name, "make questions")
    return LlmJudge(name, entry, sender or NoModel())


def find_pending_articles(
    warehouse: Readable,
    edition: str,
    inverter: VersionedJudge,
    n_articles: int | None = None,
) -> list[PendingArticle]:
    """Return the articles whose questions are not all decided, in a seeded random order.

    An article with an accepted question by another judge, prompt or settings is done.

    n_articles: consider only this many articles of the edition, always the same ones.
    """
    settings = load_inversion()
    articles = warehouse.frame(
        "SELECT article, text_sha FROM articles WHERE edition = $1", [edition]
    )
    lot = sorted(
        (
            create_inversion(edition, article, text_sha, inverter, settings)
            for article, text_sha in articles.iter_rows()
        ),
        key=lambda inversion: sha256(f"{settings.seed} {inversion.article}".encode()).digest(),
    )[:n_articles]
    if not lot:
        return []
    names, ids = zip(*((i.article, i.inversion_id) for i in lot), strict=True)
    titles = dict(warehouse.frame(PENDING, [edition, list(names), list(ids)]).iter_rows())
    return [
        PendingArticle(title=titles[inversion.article], inversion=inversion)
        for inversion in lot
        if inversion.article in titles
    ]


def count_question_states(source: Readable, edition: str) -> pl.DataFrame:
    """Count the questions by state or reason of rejection, the most frequent first."""
    return source.frame(STATE_COUNTS, [edition])


def describe_accepted(source: Readable, edition: str) -> str:
    """Say how many questions of an edition are accepted."""
    counts = count_question_states(source, edition)
    accepted = dict(counts.iter_rows()).get("accepted", 0)
    return f"{edition}: {accepted} of {counts['questions'].sum()} questions are accepted."
