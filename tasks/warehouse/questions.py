"""Every question that was made out of an article: accepted, rejected with its reason, or open."""

from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now
from tasks.warehouse.truths import QuestionCategory


class Question(Row):
    """One target of one article, as far as it got. Columns of steps it did not reach are null."""

    table: ClassVar[str] = "questions"
    key: ClassVar[tuple[str, ...]] = ("edition", "article", "inversion_id", "number")

    edition: str
    article: str
    inversion_id: str
    """Sha of what it was made from: the article's text, judge, model version, prompts, settings."""
    number: int
    """0-based, in the order in which the judge named the targets; 0 also where it named none."""
    n_targets: int | None = None
    """Targets that the judge named in the article: so many rows it has when it is done. Null where
    that is open."""
    state: Literal["accepted", "rejected", "open"]
    """`open`: a step has no usable answer yet; the next run goes on."""
    reason: str | None = None
    """Why it is not accepted: what rejections are counted by; of an open one its status."""
    detail: str | None = None
    """The reason in words."""
    assignment: str | None = None
    """Where it is accepted."""
    question: str | None = None
    """The last one that was posed."""
    kind: str | None = None
    """What is asked for, as the judge calls it."""
    category: QuestionCategory | None = None
    """Null only where the judge named no target."""
    target: str | None = None
    """JSON: answer, other names, properties and sub-claims with their sentences, after checks."""
    truths: str | None = None
    """JSON of TRUTHS; an answer without a sentence was added by the judge (see `others`)."""
    sources_rule: Literal["pages", "article", "mixed", "none"] | None = None
    """Where the accepted sources come from: archived reference pages that hold the claim, or all
    references of the article, because nobody says which one a sentence cites."""
    dropped: str = "[]"
    """JSON: properties and sub-claims that failed a check, and what was wrong."""
    n_properties: int | None = None
    """Properties that the question asks by."""
    n_properties_kept: int | None = None
    """Properties of the target that passed the checks."""
    pose_rounds: int = 0
    """Times it was posed."""
    refinement_rounds: int = 0
    """Properties added to it."""
    others: str = "[]"
    """JSON: other answers to the question as it stands, each with the judge's reason."""
    n_added: int = 0
    """Of these, how many joined the ground truth: all or none."""
    n_words: int | None = None
    """Of the question."""
    ngram_share: float | None = None
    """Share 0-1 of its n-grams that stand in the article."""
    longest_run: int | None = None
    """Words in a row that it shares with the article."""
    closed_book: str | None = None
    """JSON: what the judge answered without sources."""
    closed_book_f1: float | None = None
    """The baseline: F1 0-1 of that answer."""
    single_page: Literal["unanswered", "answered", "not_assessed"] | None = None
    """Whether one archived page answers it alone; `not_assessed`: there was none to ask."""
    n_pages: int | None = None
    """Archived pages it could have been, the article and its copies left out."""
    page_probes: str = "[]"
    """JSON: the pages that were asked, with status and F1."""
    n_queries: int | None = None
    """Different searches that an expert needs, as the judge estimates."""
    n_units: int | None = None
    """Different pieces of information, likewise."""
    minutes: float | None = None
    """Of an expert, likewise."""
    effort: str | None = None
    """JSON: the searches and pieces of information themselves."""
    judge: str
    model_version: str
    """As the last answer said; as pinned, where none came."""
    prompt_sha: str
    settings_sha: str
    """Of the configuration it was made by."""
    text_sha: str
    """Of the article's text."""
    call_ids: str = "[]"
    """JSON: the calls it rests on, in order."""
    seed: int
    made_at: UtcDatetime = Field(default_factory=utc_now)
