"""An edition of twelve agents and twelve articles with every verdict, made without flows.

One article is as large as articles get, with reports to match; evidence and reasons are as long as
models write them. Two judges: `offline`, of everything, and `second`, of a few agents. Another
board beside it (DeepResearchGym) has figures and no verdicts.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import plan_cells
from tasks.protocols.cell import judge_case
from tasks.protocols.registry import get_protocol
from tasks.scores import compute_scores
from tasks.scoring.pending import SCORER_VERSION
from tasks.scoring.rows import add_statistics, build_leaderboard_rows
from tasks.verdicts import write_cell
from tasks.warehouse.pages import Page
from tasks.warehouse.results import AgentPair, LeaderboardRow, Score
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
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge

EDITION = "made"
CATEGORIES = ("Music", "Warfare", None)
"""Of the articles in turn; one in three has none."""
SILENT = "agent_11"
"""This agent cites nothing, so it has no reference accuracy."""
BEGAN = "agent_02"
"""Of one of its reports an answer is open."""
UNCLEAR = "Claim 0 of 2 says something else of 1."
"""What the first judge has no answer about."""
SECOND_JUDGES = ("agent_00", "agent_01", "agent_02")
"""Agents that the second judge has judged."""


@dataclass(frozen=True)
class Size:
    """How large the large article is, and how many there are of everything."""

    agents: int = 12
    articles: int = 12
    facts: int = 400
    """Of the large article; of the others `few`."""
    claims: int = 150
    few: int = 4
    evidence: int = 500
    """Characters of what a judge quotes."""


SMALL = Size(facts=5, claims=4, few=3, evidence=60)
TINY = Size(agents=3, articles=2, facts=5, claims=4, few=3, evidence=60)


class WordyJudge(ScriptedJudge):
    """Decides by script and says much about it."""

    def __init__(self, name: str, evidence: int, failing: frozenset[str] = frozenset()) -> None:
        super().__init__(failing)
        self.name = name
        self._evidence = evidence

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        answers = await super().decide(request)
        self.asked.clear()
        call = f"call-{content_sha(repr(request))[:12]}"
        words = "what the text says about it in a passage of some length; " * 20
        more = {
            "reason": words[: self._evidence // 2],
            "evidence": words[: self._evidence],
            "model_version": f"{self.name}-model-2026-11-01",
            "call_id": call,
            "asked_together": len(answers),
        }
        return [answer.model_copy(update=more) for answer in answers]


def make(path: Path, size: Size = SMALL, seed: int = 8) -> Path:
    """Write the warehouse with everything that publishing needs; where it is."""
    with open_warehouse(path) as warehouse:
        rows: dict[type[Row], list[Row]] = {}
        for row in _edition(size, random.Random(seed)):
            rows.setdefault(type(row), []).append(row)
        warehouse.write(*(Change(model, of_model) for model, of_model in rows.items()))
        agents = [f"agent_{n:02}" for n in range(size.agents)]
        asyncio.run(
            _judge(warehouse, WordyJudge("offline", size.evidence, frozenset({UNCLEAR})), agents)
        )
        asyncio.run(_judge(warehouse, WordyJudge("second", 40), SECOND_JUDGES))
        warehouse.write(Change(Score, list(_gym_scores(size))))
        publish_figures(warehouse)
    return path


def publish_figures(warehouse: Warehouse) -> None:
    """The leaderboard with intervals and pairs, as the stage makes it."""
    protocols = [get_protocol("wiki_fact"), get_protocol("research_gym")]
    rows, pairs = add_statistics(
        warehouse, EDITION, build_leaderboard_rows(warehouse, EDITION, protocols)
    )
    whole = {"edition": EDITION}
    warehouse.write(
        Change(LeaderboardRow, rows, replacing=whole), Change(AgentPair, pairs, replacing=whole)
    )


async def _judge(warehouse: Warehouse, judge: WordyJudge, agents: Sequence[str]) -> None:
    for plan in plan_cells(warehouse, EDITION, get_protocol("wiki_fact"), judge, agents):
        decided = await judge_case("wiki_fact", judge, CaseLoader(warehouse, [plan]).load(plan))
        await write_cell(warehouse, plan, decided)
    plans = list(plan_cells(warehouse, EDITION, get_protocol("wiki_fact"), judge, agents))
    for agent in agents:
        mine = [plan for plan in plans if plan.agent == agent]
        warehouse.write(
            Change(Score, compute_scores(warehouse, get_protocol("wiki_fact"), judge, mine))
        )


def _gym_scores(size: Size) -> Iterator[Score]:
    """A figure of every report on another board; two agents have none."""
    for agent in range(size.agents):
        for article in range(size.articles):
            value = None if agent in (3, 7) else (agent * 7 + article * 3) % 20 / 20
            yield Score(
                edition=EDITION, protocol="research_gym", metric="kpr", agent=f"agent_{agent:02}",
                assignment=f"x{article}", judge="offline", value=value,
                numerator=value and value * 10, n_items=0 if value is None else 10, state="done",
                reason="nothing there" if value is None else None,
                scorer_version=f"{SCORER_VERSION}/{get_protocol('research_gym').version}",
            )  # fmt: skip


def _edition(size: Size, lot: random.Random) -> Iterator[Row]:
    yield Edition(edition=EDITION, source="wlc", title="Made",
                  imported_at=datetime(2026, 11, 1, tzinfo=UTC))  # fmt: skip
    for agent in range(size.agents):
        yield Agent(edition=EDITION, agent=f"agent_{agent:02}", name=f"Agent {agent:02}")
    for article in range(size.articles):
        facts = _sentences(article, size.facts if article == 0 else size.few, lot)
        yield from _article(article, facts)
        for agent in range(size.agents):
            n = size.claims if article == 0 else size.few
            yield from _report(f"agent_{agent:02}", agent, article, facts, n)
        for page in range(5):
            url = f"https://example.org/{article}/{page}"
            text = "\n".join(facts[page::5]) + "\nOther words of the page."
            yield Page(edition=EDITION, url=url, status="ok", title=f"Page {page}", text=text,
                       text_sha=content_sha(text), source="published")  # fmt: skip


def _sentences(article: int, n: int, lot: random.Random) -> list[str]:
    words = ["".join(lot.choices("abcdefghiklmnoprstuvwy", k=lot.randint(4, 9))) for _ in range(60)]
    return [
        f"Fact {number} of {article}: {' '.join(lot.choices(words, k=11))}." for number in range(n)
    ]


def _article(number: int, facts: Sequence[str]) -> Iterator[Row]:
    name, text = f"x{number}", " ".join(facts)
    month = 1 + number % 9
    yield Article(edition=EDITION, article=name, title=f"Article {number}", text=text,
                  url=f"https://en.wikipedia.org/wiki/Article_{number}", text_sha=content_sha(text),
                  category=CATEGORIES[number % 3], created_at=datetime(2025, month, 3, tzinfo=UTC),
                  views=number * 1000, bytes=len(text), external_links=number)  # fmt: skip
    yield Assignment(edition=EDITION, assignment=name, article=name,
                     prompt=f"Write the article “Article {number}”.")  # fmt: skip
    for place, fact in enumerate(facts):
        yield Fact(edition=EDITION, article=name, number=place, text=fact, source="published",
                   section=None if place < 2 else f"Part {place // 40}")  # fmt: skip
    yield _extraction("", name, content_sha(text), len(facts), 0)


def _report(
    agent: str, rank: int, article: int, facts: Sequence[str], n_claims: int
) -> Iterator[Row]:
    """The better the agent's rank, the more of its claims stand in the article and on pages."""
    name = f"x{article}"
    key = {"edition": EDITION, "agent": agent, "assignment": name}
    claims = [_claim(rank, article, n, facts) for n in range(n_claims)]
    marks = ["" if agent == SILENT else f" [{n % 5 + 1}]" for n in range(n_claims)]
    text = "\n\n".join(f"{said}{mark}" for said, mark in zip(claims, marks, strict=True))
    yield Report(**key, text=text, text_sha=content_sha(text), source_path="made")
    for n, said in enumerate(claims):
        yield Claim(**key, number=n, text=said, position=text.find(said), source="published")
        if agent != SILENT:
            url = f"https://example.org/{article}/{n % 5}"
            yield Citation(**key, number=n, url=url, raw_url=url, marker=f"[{n % 5 + 1}]",
                           kind="published")  # fmt: skip
    n_pairs = 0 if agent == SILENT else n_claims
    yield _extraction(agent, name, content_sha(text), n_claims, n_pairs)


def _claim(rank: int, article: int, number: int, facts: Sequence[str]) -> str:
    if (number + article) % 13 >= rank:
        return facts[(number * 5 + number % 5) % len(facts)]
    return f"Claim {number} of {rank} says something else of {article}."


def _extraction(agent: str, name: str, input_sha: str, n_items: int, n_pairs: int) -> Extraction:
    return Extraction(edition=EDITION, agent=agent, assignment=name, source="published",
                      extractor_version="made", input_sha=input_sha, n_items=n_items,
                      output_sha=content_sha(agent, name), n_pairs=n_pairs)  # fmt: skip
