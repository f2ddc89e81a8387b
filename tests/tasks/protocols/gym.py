"""One report of DeepResearchGym's protocol, judged and scored without a warehouse."""

from collections.abc import Sequence
from typing import Any

from tasks.configuration.models import load_protocol
from tasks.extraction.claims import extract_claims
from tasks.protocols.case import Case
from tasks.protocols.research_gym.protocol import ResearchGym
from tasks.warehouse.rows import Article, Citation
from tasks.warehouse.rubrics import KeyPoint, PointSet
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import Claims, citing, scored, value_of

PROTOCOL = ResearchGym(load_protocol("research_gym"))
A, B, C, D = "https://a.org", "https://b.org", "https://c.org", "https://d.org"
Points = Sequence[str] | None
Figure = tuple[float | None, int, str | None]


def case(
    points: Points = (),
    claims: Claims = (),
    pages: dict[str, str | None] | None = None,
    *,
    report: str = f"red tower. See {A}",
    article: bool = False,
    **more: Any,
) -> Case:
    """points: None where nobody has tried to find any."""
    return citing(
        claims, pages, text=report,
        query=None if article else "Why is the tower red?",
        article=Article(edition="e", article="x", title="Tower", url="", text="t", text_sha="t")
        if article
        else None,
        key_points=tuple(
            KeyPoint(edition="e", assignment="x", number=n, text=text)
            for n, text in enumerate(points or (), start=1)
        ),
        point_set=None if points is None else PointSet(
            edition="e", assignment="x", source="published", extractor_version="p", input_sha="i",
            output_sha="o", n_points=len(points), n_found=0, n_spans=0, n_verbatim=0,
        ),
        **more,
    )  # fmt: skip


def extracted(report: str) -> Case:
    """A report with the claims and pairs that the offline extractor finds in it."""
    found = extract_claims("", report)
    bare = case((), [(claim.text, ()) for claim in found.claims], report=report,
                reliable=found.pairs_reliable)  # fmt: skip
    citations = tuple(
        Citation(edition="e", agent="a", assignment="x", number=number, url=citation.url,
                 raw_url=citation.raw_url, kind=citation.kind)
        for number, claim in enumerate(found.claims)
        for citation in claim.citations
    )  # fmt: skip
    return bare.model_copy(update={"citations": citations})


def rows(of: Case, judge: Any = None) -> dict[str, dict[str, Any]]:
    return scored(PROTOCOL, of, judge or ScriptedJudge())


def figures(of: Case, judge: Any = None) -> dict[str, Figure]:
    """metric → (value, items, reason), as scored after judging the case."""
    return {
        metric: (value_of(row), row["n_items"], row["reason"])
        for metric, row in rows(of, judge).items()
    }
