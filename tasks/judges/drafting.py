"""The decisions by which a rubric is drafted from an article's facts: the seam of drafting.

None of them is believed as it stands: what can be checked without a model is checked so, and a
person reviews the rest.
"""

from typing import Protocol

from tasks.base import Frozen
from tasks.judges.inversion import Said


class DraftedRubric(Frozen):
    """One thing that a report on the article's subject should do."""

    text: str
    """A question about the report, to be answered with yes or no (or partly)."""
    facts: tuple[int, ...]
    """Numbers of the facts it rests on, 1-based."""
    points: int
    ternary: bool = False
    """Whether half of it can be done."""


class RubricCheck(Frozen):
    """What a second look says of a rubric."""

    keep: bool
    reason: str


class DraftedKeywords(Frozen):
    focus: tuple[str, ...]
    deviation: tuple[str, ...]


class DraftRubrics(Frozen):
    """What should a report on this subject say, by these facts?"""

    title: str
    facts: tuple[str, ...]
    n_rubrics: int
    known: tuple[str, ...] = ()
    """Rubrics that are there already."""
    problems: tuple[str, ...] = ()
    """What was wrong with others."""
    prompt: str = "drafting/draft_rubrics"


class CheckRubrics(Frozen):
    """Is each rubric one thing that can be checked, does it follow from its facts, and does it
    need research?"""

    title: str
    rubrics: tuple[str, ...]
    grounds: tuple[tuple[str, ...], ...]
    """Of each, the facts it rests on."""
    prompt: str = "drafting/check_rubrics"


class DraftKeywords(Frozen):
    """Which words must a report on this subject speak of, and which show that it has drifted?"""

    title: str
    facts: tuple[str, ...]
    n_keywords: int
    problems: tuple[str, ...] = ()
    prompt: str = "drafting/draft_keywords"


class WriteClosedBook(Frozen):
    """A report on the subject from memory alone."""

    title: str
    prompt: str = "drafting/write_closed_book"


class Drafter(Protocol):
    """What drafts: an LLM judge."""

    name: str
    model_version: str

    def prompt_sha(self, protocol: str) -> str:
        """Sha of the prompts that its drafts rest on, for `drafting`."""

    async def draft_rubrics(self, request: DraftRubrics) -> Said[tuple[DraftedRubric, ...]]:
        """The most important first."""

    async def check_rubrics(self, request: CheckRubrics) -> Said[tuple[RubricCheck, ...]]:
        """One for each rubric, in order."""

    async def draft_keywords(self, request: DraftKeywords) -> Said[DraftedKeywords]:
        """The best of each kind first."""

    async def write_closed_book(self, request: WriteClosedBook) -> Said[str]:
        """The report; empty, if it knows nothing of the subject."""
