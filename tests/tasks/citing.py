"""A warehouse whose reports cite pages of every kind, and its judging without flows."""

import asyncio
from collections.abc import Mapping, Sequence

from tasks.judges.decisions import Judge
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import CellPlan, plan_cells
from tasks.protocols.cell import judge_case
from tasks.protocols.registry import get_protocol
from tasks.scores import compute_scores
from tasks.verdicts import write_cell
from tasks.warehouse.pages import Page
from tasks.warehouse.results import Score
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Citation,
    Claim,
    Edition,
    Extraction,
    Fact,
    Report,
    Row,
    content_sha,
)
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

EDITION, ASSIGNMENT = "e", "Old_Mill"
ARTICLE_URL = "https://en.wikipedia.org/wiki/Old_Mill"
Claims = Sequence[tuple[str, Sequence[str]]]
"""Texts with the URLs that they cite."""


def write_edition(
    warehouse: Warehouse,
    reports: Mapping[str, Claims],
    pages: Sequence[Page],
    untrusted: Sequence[str] = (),
) -> None:
    """One assignment, a report per agent; the claim-URL pairs of `untrusted` ones are none."""
    rows: dict[type[Row], list[Row]] = {
        Edition: [Edition(edition=EDITION, source="a test")],
        Article: [Article(edition=EDITION, article=ASSIGNMENT, title="Old Mill", url=ARTICLE_URL,
                          text="The mill.", text_sha="t")],
        Assignment: [Assignment(edition=EDITION, assignment=ASSIGNMENT, article=ASSIGNMENT)],
        Fact: [Fact(edition=EDITION, article=ASSIGNMENT, number=0, text="old mill",
                    source="published")],
        Extraction: [_extraction("", 1, reliable=True)],
        Page: list(pages),
    }  # fmt: skip
    for agent, claims in reports.items():
        key = {"edition": EDITION, "agent": agent, "assignment": ASSIGNMENT}
        rows.setdefault(Agent, []).append(Agent(edition=EDITION, agent=agent, name=agent))
        rows.setdefault(Report, []).append(
            Report(**key, text="A report.", text_sha="r", source_path="x.md")
        )
        rows[Extraction].append(_extraction(agent, len(claims), reliable=agent not in untrusted))
        for number, (text, urls) in enumerate(claims):
            rows.setdefault(Claim, []).append(
                Claim(**key, number=number, text=text, source="published")
            )
            rows.setdefault(Citation, []).extend(
                Citation(**key, number=number, url=url, raw_url=url, kind="published")
                for url in urls
            )
    warehouse.write(*(Change(model, of_model) for model, of_model in rows.items()))


def page(url: str, text: str | None = None, status: str = "ok", **more: str) -> Page:
    return Page.model_validate(
        {
            "edition": EDITION, "url": url, "status": status, "text": text,
            "text_sha": None if text is None else content_sha(text), **more,
        }
    )  # fmt: skip


def plans_by_agent(warehouse: Warehouse, judge: Judge) -> dict[str, CellPlan]:
    return {p.agent: p for p in plan_cells(warehouse, EDITION, get_protocol("wiki_fact"), judge)}


def judge_all(warehouse: Warehouse, judge: Judge) -> list[Score]:
    """Judge and score, as the stages do."""
    asyncio.run(judge_pending(warehouse, judge))
    return score_all(warehouse, judge)


async def judge_pending(warehouse: Warehouse, judge: Judge) -> None:
    for plan in plans_by_agent(warehouse, judge).values():
        if plan.state == "pending":
            case = CaseLoader(warehouse, [plan]).load(plan)
            await write_cell(warehouse, plan, await judge_case("wiki_fact", judge, case))


def score_all(warehouse: Warehouse, judge: Judge) -> list[Score]:
    scores = [
        score
        for plan in plans_by_agent(warehouse, judge).values()
        for score in compute_scores(warehouse, get_protocol("wiki_fact"), judge, [plan])
    ]
    warehouse.write(Change(Score, scores, replacing={"edition": EDITION, "judge": judge.name}))
    return scores


def _extraction(agent: str, n_items: int, *, reliable: bool) -> Extraction:
    return Extraction(
        edition=EDITION, agent=agent, assignment=ASSIGNMENT, source="published",
        extractor_version="1", input_sha="r" if agent else "t", output_sha="o", n_items=n_items,
        pairs_reliable=reliable, pairs_reason=None if reliable else "no list of sources",
    )  # fmt: skip
