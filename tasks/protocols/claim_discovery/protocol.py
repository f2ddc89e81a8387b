"""Claim discovery: which true claims does an answer contain, and which of its claims are true?

Source: LiveDRBench (Characterizing Deep Research, arXiv 2508.04183, and its published code).
The default figures are the paper's: nested claims, matched one to one, scored recursively. The
code scores differently, by category and without nesting; the `compat_*` figures follow it. A figure
over a partly decided tree would be misleading, so an answer with open claims has none. A malformed
answer of the judge (a surplus key, an unknown truth) leaves its items open; in the published code
it ends the whole run.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.answers import AnsweredClaim
from tasks.extraction.bans import BanList, InvalidBan, parse_bans
from tasks.judges.decisions import Judge, JudgeAnswer
from tasks.judges.questions.grade_values import GradeValues
from tasks.judges.questions.match_claims import MatchClaims
from tasks.metrics.claim_trees import Denominator, score_claim_trees
from tasks.protocols.case import Case, ItemAnswer, JudgedReports, Protocol, gather_answers
from tasks.protocols.claim_discovery.matching import (
    MATCH,
    build_nodes,
    build_truth_nodes,
    match_trees,
    resolve_matching,
)
from tasks.protocols.claim_discovery.profiles import (
    COMPAT_GRADE,
    COMPAT_MATCH,
    ProfileFigures,
    compute_profile_figures,
    decide_profile,
)
from tasks.protocols.claim_discovery.questions import AnsweredQuestion
from tasks.protocols.claim_discovery.search import QUERY, compute_search_figures, decide_search
from tasks.protocols.declarations import OPEN_NOTE, Board, Bounds, build_version, parse_parameters
from tasks.protocols.figures import FigureValues, VerdictLabels, compute_by_report
from tasks.protocols.redirects import Redirects, reach_addresses, redirect_chain
from tasks.warehouse.rows import Status, canonical_values

ANSWER, FORM = "answer", "form"
READ, UNREADABLE, NO_CLAIMS = "read", "unreadable", "no_claims"
NO_TRUE_CLAIMS = "nothing is known to be true here"
QUESTION_COLUMNS = ("category", "truths", "settings", "text", "trace")
SWITCHED_OFF = "not_assessed: switched off (compat_profiles)"
NOTHING_BANNED = "not_assessed: nothing is banned for this question"
MATCHED = "a refused claim may be any of the true ones, which decides what the others can be"
NO_SOURCES = "no claim of the answer names a source"
CLAIM_COLUMNS = {
    "claim_f1": "F1",
    "claim_precision": "Prec.",
    "claim_recall": "Recall",
    "claim_f1_printed": "F1 (Σ 1)",
    "claim_f1_by_task": "F1 (quest.)",
    "compat_f1": "Publ. F1",
    "compat_precision": "Publ. prec.",
    "compat_recall": "Publ. recall",
    "answered_share": "Answered",
}
"""Columns for answers to questions."""
SEARCH_COLUMNS = {
    "claim_f1": "F1",
    "query_coverage": "Needed q.",
    "search_count": "Searches",
    "search_opened": "Opened",
    "search_repeated": "Repeated",
    "search_depth": "Depth",
    "search_branching": "Branching",
    "search_returns": "Returns",
}
"""How agents searched for these answers, beside their F1."""

SHORT_HEADINGS = {"reports": "Quest."}
BOARDS = (
    Board(
        frozenset({"claim_discovery"}),
        CLAIM_COLUMNS,
        ("claim_f1", "compat_f1"),
        "answered_share",
        "Percent, means over the categories' means; F1 (Σ 1): by the denominator "
        "that the paper prints; F1 (quest.): over all questions. Publ.: as "
        f"the published code scores each category. –: not assessed. {OPEN_NOTE}. Rank: by F1.",
        short_headings=SHORT_HEADINGS,
    ),
    Board(
        frozenset({"claim_discovery"}),
        SEARCH_COLUMNS,
        ("claim_f1",),
        "search_count",
        "F1 and Needed q. (queries that the question needs and the agent made) in percent, the "
        "others numbers, means over the questions whose trace says them. Opened: different pages. "
        "Repeated: queries made before. Depth: steps of the longest chain. Branching: steps that "
        "follow from one. Returns: steps back to a branch that had been left. –: the trace does "
        "not say. Rank: by F1.",
        "Claim discovery: how the agents searched",
        only_valued=True,
        short_headings=SHORT_HEADINGS,
        numbers=frozenset(SEARCH_COLUMNS) - {"claim_f1", "query_coverage"},
    ),
)


class ClaimDiscoveryParameters(ConfigModel):
    compat_profiles: bool = True
    """Whether to compute the figures of the published code too."""


class ClaimDiscovery(Protocol):
    """One answer against the ground truth of its question."""

    name = "claim_discovery"
    prompts = "claim_discovery"
    inputs: tuple[str, ...] = ("truth", "report", "trace")
    kinds: tuple[str, ...] = ("find_claims",)
    bounds = Bounds(none=dict.fromkeys((MATCH, COMPAT_MATCH, COMPAT_GRADE, QUERY), MATCHED))
    boards = BOARDS

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.parameters = parse_parameters(entry, ClaimDiscoveryParameters)
        self.version = build_version(
            entry, canonical_values(self.parameters, exclude_defaults=True)
        )

    def supports(self, judge: Judge) -> bool:
        return MatchClaims in judge.decides and GradeValues in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        if case.truth is None:
            raise ValueError(f"{case.report.assignment}: the question has no ground truth")
        truth, trace = case.truth, case.trace.trace if case.trace else None
        posed = AnsweredQuestion(
            truth.category, truth.truths, truth.settings, case.report.text, trace
        )
        decided = [ItemAnswer(step=ANSWER, item=FORM, answer=_decide_form(posed))]
        needed = posed.settings.needed_queries
        steps = [decide_search(trace, needed, posed.question, judge)]
        if posed.unreadable is None:
            steps.append(match_trees(judge, posed.question, posed.claims, posed.truths))
            if self.parameters.compat_profiles:
                steps.append(decide_profile(posed, judge))
        return decided + await gather_answers(steps)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        records = {row["assignment"]: row for row in judged.answers.iter_rows(named=True)}

        def compute(assignment: str, verdicts: VerdictLabels) -> dict[str, FigureValues]:
            record = records[assignment]
            posed = AnsweredQuestion(**{name: record[name] for name in QUESTION_COLUMNS})
            compat = ProfileFigures(reason=SWITCHED_OFF)
            if self.parameters.compat_profiles:
                compat = compute_profile_figures(posed, verdicts)
            answered = verdicts.get((ANSWER, FORM), (None, None))[1] == READ
            # With the paper's printed denominator.
            printed = _name_figures("claim", _score_tree(posed, verdicts, "claims"))
            names = ("claim_precision", "claim_recall", "claim_f1")
            return {
                "answered_share": FigureValues(float(answered), 1),
                **_name_figures("claim", _score_tree(posed, verdicts, "weights")),
                **{f"{name}_printed": printed[name] for name in names},
                **_name_figures("compat", compat),
                "claim_leakage": _compute_leakage_of(assignment, posed, judged.redirects),
                **compute_search_figures(posed.trace, posed.settings.needed_queries, verdicts),
            }

        return compute_by_report(judged, compute)

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        """An empty answer has no claims: its figures are 0 wherever something is true."""
        if not self.supports(judge):
            return {}
        state = pl.when(pl.col("state") == "empty").then(pl.lit("done")).otherwise(pl.lit("other"))
        unanswered = judged.model_copy(
            update={
                "reports": judged.reports.with_columns(state=state),
                "verdicts": judged.verdicts.clear(),
            }
        )
        counts: dict[str, dict[str, int]] = {}
        for row in self.compute_figures(unanswered, judge).iter_rows(named=True):
            counts.setdefault(row["metric"], {})[row["assignment"]] = row["n_items"]
        return counts


def _decide_form(posed: AnsweredQuestion) -> JudgeAnswer:
    """Whether the answer could be parsed, as a decision without a model."""
    if posed.unreadable:
        return JudgeAnswer(
            status=Status.OK, label=UNREADABLE, reason=f"unreadable_answer: {posed.unreadable}"
        )
    label = READ if posed.answer.n_claims else NO_CLAIMS
    return JudgeAnswer(status=Status.OK, label=label, reason=f"{posed.answer.n_claims} claims")


def _score_tree(
    posed: AnsweredQuestion, verdicts: VerdictLabels, denominator: Denominator
) -> ProfileFigures:
    match_verdicts = {item: verdict for (step, item), verdict in verdicts.items() if step == MATCH}
    found = resolve_matching(posed.claims, posed.truths, match_verdicts)
    if found.reason:
        return ProfileFigures(None, found.n_open, found.reason)
    answered, true = build_nodes(posed.claims), build_truth_nodes(posed.truths)
    return ProfileFigures(score_claim_trees(answered, true, found.pairs, denominator))


def _compute_leakage_of(
    assignment: str, posed: AnsweredQuestion, redirects: Redirects
) -> FigureValues:
    try:
        return compute_leakage(posed.claims, posed.settings.banned, redirects)
    except InvalidBan as error:
        raise InvalidBan(f"assignment {assignment!r}: {error}") from None


def _name_figures(kind: str, scored: ProfileFigures) -> Mapping[str, FigureValues]:
    """Name precision, recall and F1 of one question; F1 twice, for the mean over questions."""
    found = scored.figures
    names = ("precision", "recall", "f1", "f1_by_task")
    if found is None:
        missing = FigureValues(None, 0, scored.n_open, scored.reason or NO_TRUE_CLAIMS)
        return dict.fromkeys((f"{kind}_{name}" for name in names), missing)
    values = (found.precision, found.recall, found.f1, found.f1)
    return {
        f"{kind}_{name}": FigureValues(value, 1) for name, value in zip(names, values, strict=True)
    }


def compute_leakage(
    claims: Sequence[AnsweredClaim], banned: Sequence[str], redirects: Redirects
) -> FigureValues:
    """Return top-level claims with a banned source over those with any source.

    The sources of sub-claims count as their claim's own.

    Raises:
        InvalidBan: a ban cannot be parsed.
    """
    if not banned:
        return FigureValues(None, reason=NOTHING_BANNED)
    sourced = [sources for claim in claims if (sources := _collect_sources(claim))]
    if not sourced:
        return FigureValues(None, reason=NO_SOURCES)
    leaked = sum(any(is_banned(url, banned, redirects) for url in each) for each in sourced)
    return FigureValues(float(leaked), len(sourced))


def is_banned(url: str, banned: Sequence[str], redirects: Redirects) -> bool:
    """Whether an address is a banned page or on a banned host, redirects to one, or redirects to
    where a banned page does. Redirects are known for fetched pages only.

    Raises:
        InvalidBan: a ban cannot be parsed.
    """
    named = parse_bans(banned)
    pages = tuple(each for page in named.pages for each in redirect_chain(page, redirects))
    bans = BanList(pages=pages, hosts=named.hosts)
    return any(bans.matches(each) for each in reach_addresses(url, redirects))


def _collect_sources(claim: AnsweredClaim) -> tuple[str, ...]:
    below = [url for sub_claim in claim.sub_claims for url in _collect_sources(sub_claim)]
    return (*claim.sources, *below)
