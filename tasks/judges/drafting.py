"""The steps of drafting a rubric from an article's facts, as judges are asked for them.

No answer is trusted: whatever can be checked without a model is, and a person reviews the rest.
"""

from tasks.base import Frozen
from tasks.judges.decisions import PromptedRequest
from tasks.judges.forms.form import Lines, ReplyModel


class DraftedRubric(Frozen):
    """A drafted requirement on reports about the article's subject."""

    text: str
    """A question about the report, answered with yes or no (or partly)."""
    facts: tuple[int, ...]
    """1-based numbers of the facts behind it."""
    points: int
    ternary: bool = False
    """Whether it can be fulfilled by half."""


class RubricCheck(Frozen):
    """The result of checking a rubric."""

    keep: bool
    reason: str


class DraftedKeywords(ReplyModel):
    """Keywords that a report should cover, and those of drifted reports."""

    deviation: Lines
    focus: Lines


class DraftRubrics(PromptedRequest):
    """What should a report on this subject say, by these facts?"""

    title: str
    facts: tuple[str, ...]
    n_rubrics: int
    known: tuple[str, ...] = ()
    """Rubrics that exist already."""
    problems: tuple[str, ...] = ()
    """Problems of rejected ones."""
    prompt: str = "drafting/draft_rubrics"


class CheckRubrics(PromptedRequest):
    """Is each rubric one thing that can be checked, does it follow from its facts, and does it
    need research?"""

    title: str
    rubrics: tuple[str, ...]
    grounds: tuple[tuple[str, ...], ...]
    """For each rubric, the facts behind it."""
    prompt: str = "drafting/check_rubrics"


class DraftKeywords(PromptedRequest):
    """Which words must a report on this subject cover, and which show that it has drifted?"""

    title: str
    facts: tuple[str, ...]
    n_keywords: int
    problems: tuple[str, ...] = ()
    prompt: str = "drafting/draft_keywords"


class WriteClosedBook(PromptedRequest):
    """Write a report on the subject from memory alone."""

    title: str
    prompt: str = "drafting/write_closed_book"
