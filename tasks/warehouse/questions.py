"""Rows of questions made from articles: accepted, rejected or open."""

from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now
from tasks.warehouse.truths import QuestionCategory


class Question(Row):
    """A question about one target of an article. Columns of steps it did not reach are null."""

    table = "questions"
    key = ("edition", "article", "inversion_id", "number")

    edition: str
    article: str
    inversion_id: str
    """Sha-256 of its inputs: the article's text, judge, model version, prompts, settings."""
    number: int
    """0-based, in the order in which the judge named the targets; 0 also if it named none."""
    n_targets: int | None = None
    """Targets that the judge named in the article, which is the number of its rows when done; null
    if that is open."""
    state: Literal["accepted", "rejected", "open"]
    """`open`: a step has no usable answer yet; the next run continues there."""
    reason: str | None = None
    """Why it is not accepted: a code to count rejections by, or an open question's status."""
    detail: str | None = None
    """The reason in words."""
    assignment: str | None = None
    """The assignment of an accepted question."""
    question: str | None = None
    """The question, as last posed."""
    kind: str | None = None
    """The kind of answer, as the judge calls it."""
    category: QuestionCategory | None = None
    """LiveDRBench's category; null only if the judge named no target."""
    target: str | None = None
    """JSON: answer, other names, and the properties and sub-claims that passed the checks, with
    their sentences."""
    truths: str | None = None
    """JSON of the ground truth; an answer without a sentence was added by the judge (see
    `others`)."""
    sources_rule: Literal["pages", "article", "mixed", "none"] | None = None
    """The accepted sources: archived reference pages that contain the claim, or all references of
    the article if it is unknown which one a sentence cites."""
    dropped: str = "[]"
    """JSON: properties and sub-claims that failed a check, and why."""
    n_properties: int | None = None
    """Properties that the question uses."""
    n_properties_kept: int | None = None
    """The target's properties that passed the checks."""
    pose_rounds: int = 0
    """How often it was posed."""
    refinement_rounds: int = 0
    """Properties added to make it unique."""
    others: str = "[]"
    """JSON: other answers to the question, each with the judge's reason."""
    n_added: int = 0
    """Of these, answers added to the ground truth: all or none."""
    n_words: int | None = None
    """Words of the question."""
    ngram_share: float | None = None
    """Share of its n-grams that the article contains, 0-1."""
    longest_run: int | None = None
    """The longest run of words that it shares with the article."""
    closed_book: str | None = None
    """JSON: the judge's answer without sources."""
    closed_book_f1: float | None = None
    """F1 of that answer, 0-1: the baseline."""
    single_page: Literal["unanswered", "answered", "not_assessed"] | None = None
    """Whether a single archived page answers it; `not_assessed`: there was none to try."""
    n_pages: int | None = None
    """Archived pages that could answer it, without the article and its copies."""
    page_probes: str = "[]"
    """JSON: the pages tried, with status and F1."""
    n_queries: int | None = None
    """Distinct searches that an expert needs, as the judge estimates."""
    n_units: int | None = None
    """Distinct pieces of information that an expert needs, as the judge estimates."""
    minutes: float | None = None
    """Minutes that an expert needs, as the judge estimates."""
    effort: str | None = None
    """JSON: these searches and pieces of information."""
    judge: str
    model_version: str
    """The model version in the last answer; the pinned one if there was no answer."""
    prompt_sha: str
    settings_sha: str
    """Sha-256 of the configuration."""
    text_sha: str
    """Sha-256 of the article's text."""
    call_ids: str = "[]"
    """JSON list of its calls' ids, in order."""
    seed: int
    made_at: UtcDatetime = Field(default_factory=utc_now)
