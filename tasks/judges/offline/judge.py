"""The offline judge: a lexical rule with fitted weights, no LLM, no network, no key.

It decides whether words and numbers of a claim stand in its evidence. It cannot see
contradiction, negation or swapped roles, so it never says `inconsistent`, `conflict` or
`contradicted`, and of pages that support a claim in part it says `full` or `none`; what it can
say agrees with recorded LLM verdicts as the weights file states (`held_out`).
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from math import exp
from pathlib import Path

from tasks.base import Frozen
from tasks.judges.decisions import (
    CONSISTENT,
    NOT_SUPPORT,
    SUPPORT,
    Answer,
    Decision,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.offline.lexical import NAMES, Comparison, Pool
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.offline.weights import WEIGHTS_FILE, read_weights
from tasks.judges.research import (
    FULL,
    NONE,
    OMITTED,
    SUPPORTED,
    UNSUPPORTED,
    CheckCitations,
    CheckPoints,
    VerifySupport,
)
from tasks.judges.text import readable, sentences, terms
from tasks.warehouse.rows import Status

DISCLAIMER = "offline lexical judge, no LLM used"
NEVER_PARTIAL = "; full or none, never partial"
ALL_OF_IT = "; supported as a whole or not, never by a part"
TOP_K = 10
MAX_PAGE_CHARS = 2_000_000
"""What is read of a page: as much as the archive keeps of one. It takes some two seconds, of odd
texts ten. Answers say when it was cut."""
ONCE_READ = 1_000_000
"""What earlier versions read: verdicts about pages up to this length keep their keys."""
MAX_EVIDENCE_CHARS = 500
CACHED_PAGES = 8
VETO_MARGIN = 0.01
"""How far below the threshold a vetoed probability stays."""


class OfflineJudge:
    """Implements `Judge` for the decisions a lexical rule can honestly make.

    Its methods use the CPU and never wait: run it in a helper process. It can be pickled.
    """

    name = "offline"
    decides: frozenset[type[Frozen]] = frozenset(
        (VerifyClaims, VerifyAgainstPage, CheckPoints, VerifySupport, CheckCitations)
    )
    reads: frozenset[str] = frozenset()
    sees_conflict = False
    cpu_bound = True

    def __init__(self, weights_file: Path = WEIGHTS_FILE) -> None:
        """Read the weights.

        Raises:
            ConfigurationError: the weights file is missing or malformed.
        """
        self._fitted, self._sha = read_weights(weights_file)
        self.model_version = f"offline-lexical-{self._fitted.version}-{self._sha[:8]}"
        self._slopes = tuple(getattr(self._fitted.weights, name) for name in NAMES)
        self._pages: OrderedDict[str, tuple[Pool, Bm25]] = OrderedDict()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_pages": OrderedDict()}

    def prompt_sha(self, protocol: str) -> str:
        """Sha-256 of the weights file: the same for every protocol."""
        return self._sha

    def page_reading(self, longest_bytes: int, most_claims: int) -> tuple[str, ...]:
        """Told where a page may be longer than ONCE_READ: its bytes are never fewer than its
        characters."""
        if longest_bytes <= ONCE_READ:
            return ()
        return (f"the first {MAX_PAGE_CHARS} characters of a page",)

    async def decide(self, request: Decision) -> Sequence[Answer]:
        """See `Judge`; of each decision the label that supports, and the one for all else."""
        if isinstance(request, VerifyClaims):
            return self._claims(request)
        if isinstance(request, VerifyAgainstPage):
            return self._against_page(request.claims, request.page, (SUPPORT, NOT_SUPPORT))
        if isinstance(request, CheckCitations):
            answers = self._against_page(request.claims, request.page, (SUPPORTED, UNSUPPORTED))
            return [_adding(answer, ALL_OF_IT) for answer in answers]
        if isinstance(request, CheckPoints):
            return self._points(request)
        if isinstance(request, VerifySupport):
            answers = self._against_page(request.claims, request.together, (FULL, NONE))
            return [_adding(answer, NEVER_PARTIAL) for answer in answers]
        cannot = self._no_answer(Status.NOT_ASSESSED, f"it cannot {request.asks_to}")
        return [cannot] * request.n_items

    def _claims(self, request: VerifyClaims) -> list[Answer]:
        """The evidence is the best retrieved sentence."""
        pool = Pool(request.pool)
        return [
            self._answer("fact_in_report", (CONSISTENT, NOT_SUPPORT), claim, pool, retrieved)
            for claim, retrieved in zip(request.claims, request.retrieved, strict=True)
        ]

    def _points(self, request: CheckPoints) -> list[Answer]:
        """The report's sentences are found and read as they were when the weights were fitted."""
        pool, index = self._page(request.report)
        labels = (SUPPORTED, OMITTED)
        answers = [
            self._answer("key_point_in_report", labels, point, pool, index.top(point, TOP_K))
            for point in request.points
        ]
        return _cut(answers, request.report)

    def _against_page(
        self, claims: Sequence[str], page: str, labels: tuple[str, str]
    ) -> list[Answer]:
        """An empty page is `unfetchable`, not evidence."""
        pool, index = self._page(page)
        if not pool:
            answer = self._no_answer(Status.UNFETCHABLE, "the page holds no readable text")
            return [answer] * len(claims)
        answers = [
            self._answer("claim_in_page", labels, claim, pool, index.top(claim, TOP_K))
            for claim in claims
        ]
        return _cut(answers, page)

    def _page(self, page: str) -> tuple[Pool, Bm25]:
        """The page's sentences, indexed; the last few pages are kept."""
        text = page[:MAX_PAGE_CHARS]
        key = sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
        if key not in self._pages:
            found = sentences(readable(text))
            self._pages[key] = (Pool(found), Bm25(found))
            if len(self._pages) > CACHED_PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(key)
        return self._pages[key]

    def _answer(
        self,
        family: str,
        labels: tuple[str, str],
        claim: str,
        pool: Pool,
        retrieved: Sequence[int],
    ) -> Answer:
        """labels: the one that supports the claim, the other one."""
        if not terms(claim):
            return self._no_answer(Status.NOT_ASSESSED, "the claim holds no words to look for")
        found = pool.compare(claim, retrieved)
        threshold = getattr(self._fitted.thresholds, family)
        probability = self._probability(family, found)
        if found.missing_numbers:
            probability = min(probability, threshold - VETO_MARGIN)
        return Answer(
            status=Status.OK,
            label=labels[0] if probability >= threshold else labels[1],
            score=round(max(probability, 0.0), 6),
            reason=f"{DISCLAIMER}: {_reason(found)}",
            evidence=None if found.best is None else pool[found.best][:MAX_EVIDENCE_CHARS],
            model_version=self.model_version,
        )

    def _probability(self, family: str, found: Comparison) -> float:
        """Logistic model over the features; 0 where nothing was retrieved."""
        if found.best is None:
            return 0.0
        logit: float = getattr(self._fitted.intercepts, family)
        for slope, value in zip(self._slopes, found.features.row(), strict=True):
            logit += slope * value
        return 1 / (1 + exp(-logit))

    def _no_answer(self, status: Status, reason: str) -> Answer:
        return Answer(
            status=status, reason=f"{DISCLAIMER}: {reason}", model_version=self.model_version
        )


def _cut(answers: list[Answer], page: str) -> list[Answer]:
    """The answers, with what they rest on where only the beginning of the page was read."""
    if len(page) <= MAX_PAGE_CHARS:
        return answers
    share = MAX_PAGE_CHARS / len(page)
    cut = f"; page cut at {MAX_PAGE_CHARS:,} characters"
    return [_adding(answer, cut).model_copy(update={"shown_share": share}) for answer in answers]


def _adding(answer: Answer, remark: str) -> Answer:
    """The same with a remark at the end of its reason."""
    return answer.model_copy(update={"reason": f"{answer.reason}{remark}"})


def _reason(found: Comparison) -> str:
    if found.best is None:
        return "no sentence shares a word with the claim"
    said = (
        f"containment {found.features.window:.2f} in one passage, {found.features.whole:.2f} in all"
    )
    if found.missing_numbers:
        shown = ", ".join(found.missing_numbers[:5])
        said += f"; number {shown} missing: veto"
    return said
