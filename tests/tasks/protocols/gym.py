"""One report of DeepResearchGym's protocol, judged and scored without a warehouse."""

import asyncio
from collections.abc import Sequence
from typing import Any

import polars as pl

from tasks.configuration.models import load_protocol
from tasks.extraction.claims import extract_claims
from tasks.protocols.case import Case, ItemAnswer, JudgedReports
from tasks.protocols.research_gym import ResearchGym
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Article, Citation, CitationKind, Claim, Extraction, Report
from tasks.warehouse.rubrics import KeyPoint, PointSet
from tests.scripted_judge import ScriptedJudge

PROTOCOL = ResearchGym(load_protocol("research_gym"))
A, B, C = "https://a.org", "https://b.org", "https://c.org"
Points = Sequence[str] | None
Figure = tuple[float | None, int, str | None]


def case(
    points: Points = (),
    claims: Sequence[tuple[str, Sequence[str]]] = (),
    pages: dict[str, str | None] | None = None,
    *,
    report: str = f"red tower. See {A}",
    reliable: bool = True,
    article: bool = False,
    kind: CitationKind = "explicit",
) -> Case:
    """points: None where nobody has tried to find any."""
    key = {"edition": "e", "agent": "a", "assignment": "x"}
    return Case(
        report=Report(**key, text=report, text_sha="1", source_path="x.md"),
        query=None if article else "Why is the tower red?",
        article=Article(edition="e", article="x", title="Tower", url="", text="t", text_sha="t")
        if article
        else None,
        claims=tuple(
            Claim(**key, number=n, text=text,
                  source="published" if kind == "published" else "offline")
            for n, (text, _) in enumerate(claims)
        ),
        citations=tuple(
            Citation(**key, number=n, url=url, raw_url=url, kind=kind)
            for n, (_, urls) in enumerate(claims)
            for url in urls
        ),
        pages=tuple(
            Page(edition="e", url=url, status="ok" if text else "unfetchable", text=text,
                 error=None if text else "404")
            for url, text in (pages or {}).items()
        ),
        extraction=Extraction(
            **key, source="offline", extractor_version="1", input_sha="1", output_sha="2",
            n_items=len(claims), pairs_reliable=reliable,
            pairs_reason=None if reliable else "no list of sources",
        ),
        key_points=tuple(
            KeyPoint(edition="e", assignment="x", number=n, text=text)
            for n, text in enumerate(points or (), start=1)
        ),
        point_set=None if points is None else PointSet(
            edition="e", assignment="x", source="published", extractor_version="p", input_sha="i",
            output_sha="o", n_points=len(points), n_found=0, n_spans=0, n_verbatim=0,
        ),
    )  # fmt: skip


def extracted(report: str) -> Case:
    """A report with the claims and pairs that the offline extractor finds in it."""
    found = extract_claims("", report)
    key = {"edition": "e", "agent": "a", "assignment": "x"}
    bare = case((), [(claim.text, ()) for claim in found.claims], report=report,
                reliable=found.pairs_reliable)  # fmt: skip
    citations = tuple(
        Citation(**key, number=number, url=citation.url, raw_url=citation.raw_url,
                 kind=citation.kind)
        for number, claim in enumerate(found.claims)
        for citation in claim.citations
    )  # fmt: skip
    return bare.model_copy(update={"citations": citations})


def judged(of: Case, decided: Sequence[ItemAnswer]) -> JudgedReports:
    assert of.extraction
    attributed = {citation.number for citation in of.citations if citation.kind != "inferred"}
    own = {citation.number for citation in of.citations if citation.kind == "explicit"}
    verdicts = [
        ("x", d.step, d.item, d.answer.status.value, d.answer.label, d.answer.score)
        for d in decided
    ]
    return JudgedReports(
        reports=pl.DataFrame(
            [("x", "done", None, of.extraction.pairs_reliable, of.extraction.pairs_reason)],
            schema={"assignment": pl.String, "state": pl.String, "state_reason": pl.String,
                    "pairs_reliable": pl.Boolean, "pairs_reason": pl.String},
            orient="row",
        ),
        verdicts=pl.DataFrame(
            verdicts,
            schema={"assignment": pl.String, "step": pl.String, "item": pl.String,
                    "status": pl.String, "label": pl.String, "score": pl.Float64},
            orient="row",
        ),
        claims=pl.DataFrame(
            [("x", claim.number, claim.number in attributed, claim.number in own, False,
              claim.source == "published") for claim in of.claims],
            schema={"assignment": pl.String, "number": pl.Int64, "attributed": pl.Boolean,
                    "own": pl.Boolean, "leaked": pl.Boolean, "published": pl.Boolean},
            orient="row",
        ),
    )  # fmt: skip


def rows(of: Case, judge: Any = None) -> dict[str, dict[str, Any]]:
    judge = judge or ScriptedJudge()
    decided = asyncio.run(PROTOCOL.judge(of, judge))
    frame = PROTOCOL.compute_figures(judged(of, decided), judge)
    assert frame["metric"].is_unique().all()
    return {row["metric"]: row for row in frame.iter_rows(named=True)}


def figures(of: Case, judge: Any = None) -> dict[str, Figure]:
    """metric → (value, items, reason), as scored after judging the case."""
    return {
        metric: (
            None if row["numerator"] is None else row["numerator"] / row["n_items"],
            row["n_items"],
            row["reason"],
        )
        for metric, row in rows(of, judge).items()
    }
