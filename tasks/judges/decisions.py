"""The decisions a judge can make: the seam between protocols and judges.

A protocol asks in these types and never learns whether a model, a lexical rule or a
recording answered. Every answer is an `Answer`: a label or a score with its status,
reason and evidence. A judge declares in `decides` which requests it can honestly answer;
the others are `not_assessed` and are never sent to it.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

from tasks.base import Frozen
from tasks.models.attachments import Attachment
from tasks.warehouse.rows import Status

CONSISTENT = "consistent"
INCONSISTENT = "inconsistent"
NOT_SUPPORT = "not_support"
SUPPORT = "support"
CONFLICT = "conflict"
FIRST, SECOND, TIE = "first", "second", "tie"
REFERENCE, REPORT = "reference", "report"
"""Who wins a comparison, whichever stood first."""
NO_TRUTH = "none"
"""The label of an answered claim that states none of the true ones."""


def truth_label(index: int | str) -> str:
    """The label of an answered claim that states the true claim of this index (or path)."""
    return f"truth:{index}"


class Answer(Frozen):
    """What a judge said about one item."""

    status: Status
    label: str | None = None
    score: float | None = None
    """Probability 0-1 of the positive label, where the judge gives one."""
    reason: str | None = None
    evidence: str | None = None
    model_version: str | None = None
    call_id: str | None = None
    attempt: int = 1
    asked_together: int | None = None
    """Items decided by the same call; None where no model was called."""
    shown_share: float | None = None
    """Of the characters of the page or report, the share 0-1 that was looked at; None: all of it,
    or no such text."""


class Decision(Frozen):
    """A question that is answered item by item."""

    asks_to: ClassVar[str]
    """What a judge that does not decide it says it cannot do."""

    @property
    def n_items(self) -> int:
        """How many answers it has."""
        raise NotImplementedError


class VerifyClaims(Decision):
    """Is each claim consistent with the evidence retrieved for it?

    Labels: `consistent` (any one sentence supports it), `inconsistent` (contradicted by at
    least one), `not_support`. Source: Wiki Live Challenge, fact verification.
    """

    asks_to: ClassVar[str] = "verify claims"

    claims: tuple[str, ...]
    pool: tuple[str, ...]
    """All candidate sentences of the other text."""
    retrieved: tuple[tuple[int, ...], ...]
    """Per claim the indices into `pool` of its evidence, best first."""
    prompt: str = "wiki_fact/verify_claims"
    """What an LLM judge is asked with: protocol and step, a file of `configs/prompts`."""

    @property
    def n_items(self) -> int:
        return len(self.claims)


class VerifyAgainstPage(Decision):
    """Does the page support each claim that cites it? Labels: support, not_support, conflict."""

    asks_to: ClassVar[str] = "verify claims against a page"

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "wiki_fact/verify_against_page"

    @property
    def n_items(self) -> int:
        return len(self.claims)


class Criterion(Frozen):
    id: str
    text: str


class CompareArticles(Decision):
    """Which article is better by each criterion of one category? Labels: first, second, tie."""

    asks_to: ClassVar[str] = "compare articles"

    category: str
    criteria: tuple[Criterion, ...]
    first: str
    second: str
    allow_tie: bool = False
    attached: Literal["first", "second"] | None = None
    """Which of the two is no text but `attachments`; its text is then empty."""
    attachments: tuple[Attachment, ...] = ()
    prompt: str = "wiki_writing/compare_articles"

    @property
    def n_items(self) -> int:
        return len(self.criteria)


class MatchClaims(Decision):
    """Which true claim, if any, does each answered claim state? Labels: `truth:<index>`, `none`.

    Asked of claims of one level: the answers to one question, or the sub-claims of one pair.
    """

    asks_to: ClassVar[str] = "match claims"

    question: str
    truths: tuple[str, ...]
    """Each as a reader sees it: its value, what else is accepted, what is known of it."""
    answered: tuple[str, ...]
    note: str = ""
    """What the publisher says of matching here, e.g. that middle names may be missing."""
    prompt: str = "claim_discovery/match_claims"

    @property
    def n_items(self) -> int:
        return len(self.answered)


class NamedValue(Frozen):
    """One property of a claim: what is true, what was answered."""

    name: str
    truth: str
    answered: str


class GradeValues(Decision):
    """How well does each answered value state the true one? Labels: `0` (wrong or missing) to
    `3` (the same). Source: LiveDRBench, whose code counts 2 and 3 as right."""

    asks_to: ClassVar[str] = "grade values"

    question: str
    values: tuple[NamedValue, ...]
    note: str = ""
    prompt: str = "claim_discovery/grade_values"

    @property
    def n_items(self) -> int:
        return len(self.values)


class ExtractFacts(Frozen):
    """Atomic, self-contained statements of a reference article."""

    title: str
    text: str
    prompt: str = "extraction/facts"


class ExtractClaims(Frozen):
    """Atomic, self-contained statements of a report with the markers they cite."""

    title: str
    text: str
    prompt: str = "extraction/claims"


class Statement(Frozen):
    """One extracted statement; `markers` as they stand in the text, none for facts."""

    text: str
    markers: tuple[str, ...] = ()


class Extracted(Frozen):
    """The statements of one text, or why there are none."""

    status: Status
    statements: tuple[Statement, ...] = ()
    reason: str | None = None
    call_id: str | None = None


class Judge(Protocol):
    """What decides. Implementations: the offline judge and the LLM judges."""

    name: str
    model_version: str
    """What answers as: stored in every verdict, part of every cell's key."""
    decides: frozenset[type[Frozen]]
    """What it can honestly answer."""
    reads: frozenset[str]
    """Media types of the files it can be shown; empty where it reads text only."""
    sees_conflict: bool
    """Whether it can tell a contradiction from missing support; if not, `inconsistent` and
    `conflict` are never among its labels and conflict metrics are `not_assessed`."""
    cpu_bound: bool
    """Whether it computes rather than waits: its cells then run in helper processes."""

    def prompt_sha(self, protocol: str) -> str:
        """Sha of the prompts (or weights) its verdicts for a protocol rest on."""

    def page_reading(self, longest_bytes: int, most_claims: int) -> tuple[str, ...]:
        """How it reads the pages of a cell, where not all of them whole and each in one go; part
        of the keys of such cells alone, so that the others keep theirs.

        longest_bytes: of the longest page that is judged, in UTF-8.
        most_claims: that cite one such page.
        """

    async def decide(self, request: Decision) -> Sequence[Answer]:
        """One answer per item, in order; `not_assessed` for what it does not decide."""


class Extractor(Protocol):
    """What takes texts apart into statements: an LLM judge, beside the offline extraction."""

    name: str
    model_version: str

    def prompt_sha(self, protocol: str) -> str:
        """Sha of the prompts that its statements rest on, for `extraction`."""

    async def extract_facts(self, request: ExtractFacts) -> Extracted:
        """The statements of a reference article."""

    async def extract_claims(self, request: ExtractClaims) -> Extracted:
        """The statements of a report with the markers they cite."""
