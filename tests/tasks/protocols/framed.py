"""Protocols on a few reports: a judge that answers as it is told, and its verdicts as frames."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from tasks.base import Frozen
from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.protocols.case import RUBRIC_SCHEMA, Case, ItemAnswer, JudgedReports, Protocol
from tasks.protocols.redirects import collect_redirects
from tasks.protocols.wiki_fact.protocol import find_leaked_claims
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Citation, CitationKind, Claim, Extraction, Report, Status

Says = Callable[[Any], Sequence[JudgeAnswer]]
Claims = Sequence[tuple[str, Sequence[str]]]
"""Texts with the addresses that they cite."""
REPORTS = {"assignment": pl.String, "state": pl.String, "state_reason": pl.String,
           "pairs_reliable": pl.Boolean, "pairs_reason": pl.String}  # fmt: skip
VERDICTS = {**dict.fromkeys(("assignment", "step", "item", "status", "label"), pl.String),
            "score": pl.Float64, "reason": pl.String}  # fmt: skip
CLAIMS = {"assignment": pl.String, "number": pl.Int64} | dict.fromkeys(
    ("attributed", "own", "cited", "leaked", "published"), pl.Boolean
)


class Told:
    """Answers each kind of decision by a function of it; decides no other."""

    name = "told"
    model_version = "told-1"
    reads: frozenset[str] = frozenset()
    sees_conflict = True
    lexical = False
    cpu_bound = False

    def __init__(self, says: Mapping[type[DecisionRequest], Says]) -> None:
        self.says = says
        self.decides: frozenset[type[Frozen]] = frozenset(says)
        self.asked: list[Any] = []

    def prompt_sha(self, protocol: str) -> str:
        return f"sha-of-{protocol}"

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        return ()

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        return self.says[type(request)](request)


def ok(label: str) -> JudgeAnswer:
    return JudgeAnswer(status=Status.OK, label=label)


def failed(status: Status = Status.JUDGE_ERROR) -> JudgeAnswer:
    return JudgeAnswer(status=status, reason="told to fail")


def report(text: str = "A report.", assignment: str = "x", agent: str = "a") -> Report:
    return Report(
        edition="e", agent=agent, assignment=assignment, text=text, text_sha=text, source_path="x"
    )


def citing(
    claims: Claims,
    pages: Mapping[str, str | None] | None = None,
    *,
    text: str = "A report.",
    reliable: bool = True,
    kind: CitationKind = "explicit",
    assignment: str = "x",
    **more: Any,
) -> Case:
    """A report with these claims. pages: their texts; None of one that could not be had."""
    key = {"edition": "e", "agent": "a", "assignment": assignment}
    source = "published" if kind == "published" else "offline"
    return Case(
        report=report(text, assignment),
        claims=tuple(
            Claim.model_validate({**key, "number": n, "text": said, "source": source})
            for n, (said, _) in enumerate(claims)
        ),
        citations=tuple(
            Citation(**key, number=n, url=url, raw_url=url, kind=kind)
            for n, (_, urls) in enumerate(claims)
            for url in urls
        ),
        pages=tuple(
            Page(edition="e", url=url, status="ok" if page else "unfetchable", text=page,
                 error=None if page else "404")
            for url, page in (pages or {}).items()
        ),
        extraction=Extraction(
            **key, source="offline", extractor_version="1", input_sha="1", output_sha="2",
            n_items=len(claims), pairs_reliable=reliable,
            pairs_reason=None if reliable else "no list of sources",
        ),
        **more,
    )  # fmt: skip


def decided(protocol: Protocol, case: Case, judge: Any) -> list[ItemAnswer]:
    return asyncio.run(protocol.judge(case, judge))


def framed(
    by_report: Mapping[str, Sequence[ItemAnswer]], cases: Sequence[Case] = ()
) -> JudgedReports:
    """Verdicts by assignment as scoring gets them; with what else there is in the cases."""
    rubrics = [rubric for case in cases for rubric in case.rubric]
    bundles = [case.bundle for case in cases if case.bundle]
    reasons = {c.report.assignment: c.extraction.pairs_reason for c in cases if c.extraction}
    return JudgedReports(
        reports=_frame(
            [(key, "done", None, not reasons.get(key), reasons.get(key)) for key in by_report],
            REPORTS,
        ),
        verdicts=_frame(
            [
                (key, d.step, d.item, str(d.answer.status), d.answer.label, d.answer.score,
                 d.answer.reason)
                for key, all_of in by_report.items()
                for d in all_of
            ],
            VERDICTS,
        ),
        claims=_frame([row for case in cases for row in _claim_rows(case)], CLAIMS),
        redirects=collect_redirects(page for case in cases for page in case.pages),
        rubrics=_frame(
            [tuple(getattr(rubric, name) for name in RUBRIC_SCHEMA) for rubric in rubrics],
            RUBRIC_SCHEMA,
        ),
        bundles=_frame(
            [(bundle.assignment, bundle.settings) for bundle in bundles],
            {"assignment": pl.String, "settings": pl.String},
        ),
    )  # fmt: skip


def _frame(rows: Sequence[Sequence[Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row")


def _claim_rows(case: Case) -> list[tuple[Any, ...]]:
    redirects = collect_redirects(case.pages)
    leaked = find_leaked_claims(case.article.url, case.citations, redirects) if case.article else ()
    attributed = {pair.number for pair in case.citations if pair.kind != "inferred"}
    own = {pair.number for pair in case.citations if pair.kind == "explicit"}
    return [
        (claim.assignment, claim.number, claim.number in attributed, claim.number in own,
         claim.number in attributed, claim.number in leaked, claim.source == "published")
        for claim in case.claims
    ]  # fmt: skip


def scored(
    protocol: Protocol, of: Case, judge: Any, said: Sequence[ItemAnswer] | None = None
) -> dict[str, dict[str, Any]]:
    """The row of each metric for one report. said: the verdicts, if the judge is not asked."""
    found = decided(protocol, of, judge) if said is None else said
    frame = protocol.compute_figures(framed({of.report.assignment: found}, [of]), judge)
    assert frame["metric"].is_unique().all()
    return {row["metric"]: row for row in frame.iter_rows(named=True)}


def value_of(row: Mapping[str, Any]) -> float | None:
    if row["numerator"] is None or not row["n_items"]:
        return None
    share: float = row["numerator"] / row["n_items"]
    return share


def values(
    protocol: Protocol, judged: JudgedReports, judge: Any
) -> dict[tuple[str, str], float | None]:
    """(assignment, metric) → value."""
    frame = protocol.compute_figures(judged, judge)
    return {(r["assignment"], r["metric"]): value_of(r) for r in frame.iter_rows(named=True)}
