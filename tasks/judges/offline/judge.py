"""The offline judge: a lexical rule with fitted weights, no LLM, no network, no key.

It decides whether the words and numbers of a claim occur in its evidence. Another number or a
denial in a near copy of the claim is no evidence. It cannot detect contradiction in other words or
swapped roles, so it never gives the labels `inconsistent`, `conflict`, `contradicted` and
`partial`. The weights file states its agreement with recorded LLM verdicts
(`held_out`).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp
from pathlib import Path

from tasks.base import Frozen
from tasks.judges.decisions import (
    CONSISTENT,
    FULL,
    NONE,
    NOT_SUPPORT,
    OMITTED,
    SUPPORT,
    SUPPORTED,
    UNSUPPORTED,
    DecisionRequest,
    JudgeAnswer,
)
from tasks.judges.offline.lexical import FEATURE_NAMES, ClaimComparison, SentencePool
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.offline.weights import WEIGHTS_FILE, load_weights
from tasks.judges.questions.check_citations import CheckCitations
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.questions.verify_support import VerifySupport
from tasks.judges.text import extract_terms, split_sentences, strip_markdown
from tasks.warehouse.rows import Status

DISCLAIMER = "offline lexical judge, no LLM used"
NEVER_PARTIAL = "; full or none, never partial"
NEVER_IN_PART = "; supported as a whole or not, never by a part"
TOP_K = 10
MAX_PAGE_CHARS = 2_000_000
"""Characters read of a page: as many as the archive keeps. They take some two seconds, odd texts
ten. Answers say if the page was cut."""
EARLIER_MAX_PAGE_CHARS = 1_000_000
"""The limit of earlier versions: verdicts on pages up to this length keep their keys."""
MAX_EVIDENCE_CHARS = 500
CACHED_PAGES = 32
VETOED = 0.01
"""Highest probability of a vetoed claim, whatever the threshold."""


class OfflineJudge:
    """A `Judge` for the decisions that a lexical rule can make.

    Its methods are CPU-bound: run it in a helper process. It can be pickled.
    """

    name = "offline"
    decides: frozenset[type[Frozen]] = frozenset(
        (VerifyClaims, VerifyAgainstPage, CheckPoints, VerifySupport, CheckCitations)
    )
    reads: frozenset[str] = frozenset()
    sees_conflict = False
    lexical = True
    cpu_bound = True

    def __init__(self, weights_file: Path = WEIGHTS_FILE) -> None:
        """Read the weights.

        Raises:
            ConfigurationError: the weights file is missing or malformed.
        """
        self._fitted, self._sha = load_weights(weights_file)
        self.model_version = f"offline-lexical-{self._fitted.version}-{self._sha[:8]}"
        self._slopes = tuple(getattr(self._fitted.weights, name) for name in FEATURE_NAMES)

    def prompt_sha(self, protocol: str) -> str:
        """Return the sha-256 of the weights, the same for every protocol."""
        return self._sha

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        """Return the page limit if a page may exceed `EARLIER_MAX_PAGE_CHARS`."""
        if longest_bytes <= EARLIER_MAX_PAGE_CHARS:
            return ()
        return (f"the first {MAX_PAGE_CHARS} characters of a page",)

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        """Decide between the supporting label and the one for everything else; see `Judge`."""
        if isinstance(request, VerifyClaims):
            return self._claims(request)
        if isinstance(request, CheckPoints):
            return self._points(request)
        if isinstance(request, VerifyAgainstPage):
            return self._against_page(request, (SUPPORT, NOT_SUPPORT))
        if isinstance(request, CheckCitations):
            return self._against_page(request, (SUPPORTED, UNSUPPORTED), NEVER_IN_PART)
        if isinstance(request, VerifySupport):
            return self._against_page(request, (FULL, NONE), NEVER_PARTIAL)
        cannot = self._no_answer(Status.NOT_ASSESSED, f"it cannot {request.action}")
        return [cannot] * request.n_items

    def _claims(self, request: VerifyClaims) -> list[JudgeAnswer]:
        """Verify claims; the evidence is the best retrieved sentence."""
        pool, labels = SentencePool(request.pool), (CONSISTENT, NOT_SUPPORT)
        subject = request.subject
        return [
            self._answer("fact_in_report", labels, claim, pool, retrieved, subject)
            for claim, retrieved in zip(request.claims, request.retrieved, strict=True)
        ]

    def _points(self, request: CheckPoints) -> list[JudgeAnswer]:
        """Check key points; the report is split and searched as in the calibration."""
        pool, index = _prepare_page(request.report[:MAX_PAGE_CHARS])
        labels = (SUPPORTED, OMITTED)
        answers = [
            self._answer("key_point_in_report", labels, point, pool, index.top(point, TOP_K))
            for point in request.points
        ]
        return _mark_cut(answers, request.report)

    def _against_page(
        self,
        request: VerifyAgainstPage | CheckCitations | VerifySupport,
        labels: tuple[str, str],
        remark: str = "",
    ) -> list[JudgeAnswer]:
        """Verify claims against a page; an empty page is `unfetchable`."""
        page = request.page
        pool, index = _prepare_page(page[:MAX_PAGE_CHARS])
        if pool:
            answers = [
                self._answer("claim_in_page", labels, claim, pool, index.top(claim, TOP_K))
                for claim in request.claims
            ]
            answers = _mark_cut(answers, page)
        else:
            nothing = self._no_answer(Status.UNFETCHABLE, "the page holds no readable text")
            answers = [nothing] * len(request.claims)
        return [_add_remark(answer, remark) for answer in answers] if remark else answers

    def _answer(
        self,
        family: str,
        labels: tuple[str, str],
        claim: str,
        pool: SentencePool,
        retrieved: Sequence[int],
        subject: str = "",
    ) -> JudgeAnswer:
        """Answer for one claim. labels: the supporting one, the other one."""
        if not extract_terms(claim):
            return self._no_answer(Status.NOT_ASSESSED, "the claim holds no words to look for")
        found = pool.compare(claim, retrieved, subject)
        threshold = getattr(self._fitted.thresholds, family)
        probability = self._probability(family, found)
        if found.veto is not None:
            probability = min(probability, VETOED)
        return JudgeAnswer(
            status=Status.OK,
            label=labels[0] if probability >= threshold else labels[1],
            score=round(probability, 6),
            reason=f"{DISCLAIMER}: {_format_reason(found, pool)}",
            evidence=None if found.best is None else pool[found.best][:MAX_EVIDENCE_CHARS],
            model_version=self.model_version,
        )

    def _probability(self, family: str, found: ClaimComparison) -> float:
        """Return the logistic model's probability; 0 if no sentence shares a term."""
        if found.best is None:
            return 0.0
        logit: float = getattr(self._fitted.intercepts, family)
        for slope, value in zip(self._slopes, found.features.row(), strict=True):
            logit += slope * value
        return 1 / (1 + exp(-logit))

    def _no_answer(self, status: Status, reason: str) -> JudgeAnswer:
        return JudgeAnswer(
            status=status, reason=f"{DISCLAIMER}: {reason}", model_version=self.model_version
        )


# The last few pages are kept: all claims that cite a page, also of other reports, use them.
@lru_cache(CACHED_PAGES)
def _prepare_page(page: str) -> tuple[SentencePool, Bm25]:
    """Return the page's sentences and their index."""
    sentences = split_sentences(strip_markdown(page))
    return SentencePool(sentences), Bm25(sentences)


def _mark_cut(answers: list[JudgeAnswer], page: str) -> list[JudgeAnswer]:
    """Note in the answers if only the beginning of the page was read."""
    if len(page) <= MAX_PAGE_CHARS:
        return answers
    share = MAX_PAGE_CHARS / len(page)
    cut = f"; page cut at {MAX_PAGE_CHARS:,} characters"
    return [
        _add_remark(answer, cut).model_copy(update={"shown_share": share}) for answer in answers
    ]


def _add_remark(answer: JudgeAnswer, remark: str) -> JudgeAnswer:
    """Append a remark to an answer's reason."""
    return answer.model_copy(update={"reason": f"{answer.reason}{remark}"})


def _format_reason(found: ClaimComparison, pool: SentencePool) -> str:
    if found.best is None:
        return "no sentence shares a word with the claim"
    said = f"containment {found.features.passage:.2f} in one passage"
    if found.other is not None:
        said += f"; a number is in another sentence: “{pool[found.other][:MAX_EVIDENCE_CHARS]}”"
    return said if found.veto is None else f"{said}; {found.veto}: veto"
