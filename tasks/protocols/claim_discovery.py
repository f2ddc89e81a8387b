"""Claim discovery: which of the true claims does an answer hold, and which of its claims are true?

Source: LiveDRBench (Characterizing Deep Research, arXiv 2508.04183, and its published code).
The default figures are the paper's: nested claims, matched one to one, scored recursively. The
code scores differently, by category and without nesting; its figures stand beside them
(`compat_*`). A figure over a partially decided tree would be another figure, so an answer with
claims that wait for a decision has none until all are decided. A judge whose answer does not
fit (a key too many, a truth that is not there) leaves that answer's items open: in the
published code it ends the whole run.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.answers import (
    AgentAnswer,
    AnsweredClaim,
    UnreadableAnswer,
    read_answer,
)
from tasks.extraction.banned import UnreadableBan
from tasks.extraction.claim_forms import (
    Form,
    answered_claims,
    form_of,
    key_name,
    truth_items,
)
from tasks.judges.decisions import Answer, GradeValues, Judge, MatchClaims
from tasks.metrics.claim_trees import Figures, tree_figures
from tasks.protocols.case import FIGURES, Case, Decided, Judged
from tasks.protocols.claim_matching import (
    MATCH,
    Question,
    match_trees,
    matching,
    nodes,
    truth_nodes,
)
from tasks.protocols.claim_profiles import Marked, profile_decisions, profile_figures
from tasks.protocols.claim_search import Figure, search_decisions, search_figures
from tasks.protocols.claim_sources import leakage_figure
from tasks.protocols.redirects import Redirects
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import Status, canonical_values
from tasks.warehouse.truths import TRUTHS, TruthClaim, TruthSettings

ANSWER, FORM = "answer", "form"
READ, UNREADABLE, NO_CLAIMS = "read", "unreadable", "no_claims"
NO_TRUE_CLAIMS = "nothing is known to be true here"
SWITCHED_OFF = "not_assessed: switched off (compat_profiles)"

Verdicts = dict[tuple[str, str], tuple[str, str | None]]


class ClaimDiscoveryParameters(Configured):
    compat_profiles: bool = True
    """Ask for, and publish, the figures of the published code as well."""


class Posed:
    """One question with what is true of it and one answer to it."""

    def __init__(
        self, category: str, truths: str, settings: str, text: str, trace: str | None
    ) -> None:
        self.category = category
        self.truths: tuple[TruthClaim, ...] = TRUTHS.validate_json(truths)
        self.settings = TruthSettings.model_validate_json(settings)
        self.trace = trace
        self.unreadable: str | None = None
        try:
            self.answer = read_answer(text)
        except UnreadableAnswer as error:
            self.answer, self.unreadable = AgentAnswer(), str(error)

    @cached_property
    def form(self) -> Form:
        return form_of(self.category, self.settings, self.truths)

    @cached_property
    def claims(self) -> tuple[AnsweredClaim, ...]:
        return answered_claims(self.answer, self.form)

    @property
    def question(self) -> Question:
        note = self.settings.eval_info.evaluation_note
        return Question(self.settings.question, str(note) if note else "")

    def marked(self) -> Marked:
        info = self.settings.eval_info
        return Marked(
            category=self.category,
            form=self.form,
            truth=truth_items(self.category, self.settings, self.truths),
            answer=self.answer,
            primary_keys=tuple(key_name(key) for key in info.primary_keys),
            main_claims=tuple(key_name(key) for key in info.main_claims),
        )

    def read(self) -> Answer:
        """What became of the answer itself, as a decision that no model makes."""
        if self.unreadable:
            return Answer(
                status=Status.OK, label=UNREADABLE, reason=f"unreadable_answer: {self.unreadable}"
            )
        label = READ if self.answer.n_claims else NO_CLAIMS
        return Answer(status=Status.OK, label=label, reason=f"{self.answer.n_claims} claims")


class ClaimDiscovery:
    """One answer against the ground truth of its question."""

    name = "claim_discovery"
    prompts = "claim_discovery"
    inputs: tuple[str, ...] = ("truth", "report", "trace")
    kinds: tuple[str, ...] = ("find_claims",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, ClaimDiscoveryParameters)
        self.version = version_of(entry, canonical_values(self.parameters, exclude_defaults=True))

    def assesses(self, judge: Judge) -> bool:
        return MatchClaims in judge.decides and GradeValues in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        if case.truth is None:
            raise ValueError(f"{case.report.assignment}: the question has no ground truth")
        truth, trace = case.truth, case.trace.trace if case.trace else None
        posed = Posed(truth.category, truth.truths, truth.settings, case.report.text, trace)
        decided = [Decided(step=ANSWER, item=FORM, answer=posed.read())]
        needed = posed.settings.needed_queries
        steps = [search_decisions(trace, needed, posed.question, judge)]
        if posed.unreadable is None:
            steps.append(match_trees(judge, posed.question, posed.claims, posed.truths))
            if self.parameters.compat_profiles:
                steps.append(profile_decisions(posed.marked(), posed.question, judge))
        found = await asyncio.gather(*steps)
        return decided + [item for items in found for item in items]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        done = judged.reports.filter(pl.col("state") == "done").select("assignment")
        answers = judged.answers.join(done, on="assignment", how="semi")
        verdicts = _by_assignment(judged.verdicts)
        rows = [
            row
            for record in answers.iter_rows(named=True)
            for row in self._rows(record, verdicts.get(record["assignment"], {}), judged.redirects)
        ]
        return pl.DataFrame(rows, schema=FIGURES, orient="row")

    def _rows(
        self, record: dict[str, Any], verdicts: Verdicts, redirects: Redirects
    ) -> list[tuple[Any, ...]]:
        posed = Posed(
            record["category"], record["truths"], record["settings"], record["text"],
            record["trace"],
        )  # fmt: skip
        answered = float(verdicts.get((ANSWER, FORM), (None, None))[1] == READ)
        found: dict[str, Figure] = {
            "answered_share": (answered, 1, 0, None),
            **_named("claim", _tree(posed, verdicts)),
            **_named("compat", self._compat(posed, verdicts)),
            "claim_leakage": _leakage(record["assignment"], posed, redirects),
            **search_figures(posed.trace, posed.settings.needed_queries, verdicts),
        }
        return [
            (record["assignment"], metric, numerator, n_items, n_open, reason)
            for metric, (numerator, n_items, n_open, reason) in found.items()
        ]

    def _compat(self, posed: Posed, verdicts: Verdicts) -> tuple[Figures | None, int, str | None]:
        if not self.parameters.compat_profiles:
            return None, 0, SWITCHED_OFF
        found = profile_figures(posed.marked(), verdicts)
        return found.figures, found.n_open, found.reason


def _tree(posed: Posed, verdicts: Verdicts) -> tuple[Figures | None, int, str | None]:
    of_match = {item: said for (step, item), said in verdicts.items() if step == MATCH}
    found = matching(posed.claims, posed.truths, of_match)
    if found.reason:
        return None, found.n_open, found.reason
    figures = tree_figures(nodes(posed.claims), truth_nodes(posed.truths), found.pairs)
    return figures, 0, None


def _leakage(assignment: str, posed: Posed, redirects: Redirects) -> Figure:
    try:
        return leakage_figure(posed.claims, posed.settings.banned, redirects)
    except UnreadableBan as error:
        raise UnreadableBan(f"assignment {assignment!r}: {error}") from None


def _named(kind: str, said: tuple[Figures | None, int, str | None]) -> dict[str, Figure]:
    """Precision, recall, F1, each of one question; F1 once more for the mean over questions."""
    figures, n_open, reason = said
    names = ("precision", "recall", "f1", "f1_by_task")
    if figures is None:
        return {f"{kind}_{name}": (None, 0, n_open, reason or NO_TRUE_CLAIMS) for name in names}
    values = (figures.precision, figures.recall, figures.f1, figures.f1)
    return {
        f"{kind}_{name}": (value, 1, 0, None) for name, value in zip(names, values, strict=True)
    }


def _by_assignment(frame: pl.DataFrame) -> Mapping[str, Verdicts]:
    found: dict[str, Verdicts] = {}
    columns: Sequence[str] = ("assignment", "step", "item", "status", "label")
    for assignment, step, item, status, label in frame.select(columns).iter_rows():
        found.setdefault(assignment, {})[step, item] = (status, label)
    return found
