"""What the offline judge must see and what must not move it, measured on the shared edition.

Controls are the edition's reference articles, read as reports on themselves: as they are, with
every sentence denied that has a verb to deny, and with every number changed. An agent's coverage is
measured with the judge's labels and with its probabilities, which should agree.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from math import fsum

from scipy.stats import spearmanr

from tasks.extraction.claims import extract_claims
from tasks.judges.decisions import CONSISTENT, JudgeAnswer
from tasks.judges.offline.judge import TOP_K, VETOED, OfflineJudge
from tasks.judges.offline.retrieval import EvidenceRetriever
from tasks.judges.offline.weights import AgentFigures, ControlFigures, EditionFigures
from tasks.judges.questions.verify_claims import VerifyClaims
from tests.rigs.shared_edition import SharedEdition

_VERB = re.compile(
    r"\b(?:was|were|is|are|had|has|have|did|does|do|could|would|should|will|can|may|might)\b"
    r"(?! not)"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Scores = dict[str, list[list[float]]]
"""Probabilities by agent, then article, then fact."""


def deny(sentence: str) -> str:
    """Put "not" after the first verb that takes it: "was built" becomes "was not built"."""
    return _VERB.sub(lambda verb: f"{verb[0]} not", sentence, count=1)


def change_numbers(sentence: str) -> str:
    """Add 3 to the last digit of every number: 1882 becomes 1885, 8 becomes 1."""
    return _NUMBER.sub(lambda n: n[0][:-1] + str((int(n[0][-1]) + 3) % 10), sentence)


def measure_controls(judge: OfflineJudge, edition: SharedEdition) -> ControlFigures:
    """Judge the facts of every article by the article, by its denial, by its other numbers."""
    found = dict.fromkeys(ControlFigures.model_fields, 0)
    for name, facts in edition.facts.items():
        title = edition.articles[name].title
        claims = [claim.text for claim in extract_claims(title, edition.articles[name].text).claims]
        plain = judge_facts(judge, title, facts, claims)
        denied = judge_facts(judge, title, facts, [deny(claim) for claim in claims])
        changed = judge_facts(judge, title, facts, [change_numbers(claim) for claim in claims])
        for fact, own, no, other in zip(facts, plain, denied, changed, strict=True):
            found["facts"] += 1
            found["lost"] += own.label != CONSISTENT
            found["vetoed"] += "veto" in str(own.reason)
            if own.label != CONSISTENT or own.evidence is None:
                continue
            if deny(own.evidence) != own.evidence:
                found["denied"] += 1
                found["denied_taken_back"] += _is_taken_back(no)
            if {*_NUMBER.findall(fact)} & {*_NUMBER.findall(own.evidence)}:
                found["renumbered"] += 1
                found["renumbered_taken_back"] += _is_taken_back(other)
    return ControlFigures(**found)


def _is_taken_back(answer: JudgeAnswer) -> bool:
    """Whether an answer is negative, and by far."""
    return answer.label != CONSISTENT and (answer.score or 0.0) <= VETOED


def judge_facts(
    judge: OfflineJudge, title: str, facts: Sequence[str], claims: Sequence[str]
) -> Sequence[JudgeAnswer]:
    """Judge an article's facts by a report's claims, as Wiki Fact does."""
    retrieved = EvidenceRetriever(claims).top_many(facts, TOP_K)
    asked = VerifyClaims(
        claims=tuple(facts), pool=tuple(claims), retrieved=tuple(retrieved), subject=title
    )
    return asyncio.run(judge.decide(asked))


def score_agents(judge: OfflineJudge, edition: SharedEdition) -> tuple[Scores, Scores]:
    """Return the probabilities by the claims that do not leak, and by all."""
    honest: Scores = {}
    everything: Scores = {}
    for report in edition.reports:
        facts, title = edition.facts[report.article], edition.articles[report.article].title
        scores = [answer.score or 0.0 for answer in judge_facts(judge, title, facts, report.claims)]
        everything.setdefault(report.agent, []).append(scores)
        if report.leaked:
            answers = judge_facts(judge, title, facts, report.honest)
            scores = [answer.score or 0.0 for answer in answers]
        honest.setdefault(report.agent, []).append(scores)
    return honest, everything


def choose_threshold(scores: Scores) -> float:
    """Return the threshold at which counted and mean coverage differ least over all agents."""
    soft = _mean(_percent(of_agent) for of_agent in scores.values())
    return min(
        (step / 200 for step in range(40, 121)),
        key=lambda at: abs(_mean(_percent(s, at) for s in scores.values()) - soft),
    )


def describe_agents(
    honest: Scores, everything: Scores, threshold: float, published: dict[str, float]
) -> EditionFigures:
    """Return each agent's coverage, and how their order follows the published one."""
    agents = {
        agent: AgentFigures(
            counted=round(_percent(honest[agent], threshold), 2),
            soft=round(_percent(honest[agent]), 2),
            counted_all=round(_percent(everything[agent], threshold), 2),
            soft_all=round(_percent(everything[agent]), 2),
            published=published[agent],
        )
        for agent in sorted(honest)
    }
    found = [(figures.soft_all, figures.published) for figures in agents.values()]
    rank = spearmanr(*zip(*found, strict=True)).statistic
    return EditionFigures(spearman=round(float(rank), 4), agents=agents)


def _percent(articles: Sequence[Sequence[float]], threshold: float | None = None) -> float:
    """Return the mean of the articles' means, of probabilities or of what reaches a threshold."""
    return 100 * _mean(
        _mean(score if threshold is None else float(score >= threshold) for score in scores)
        for scores in articles
    )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return fsum(listed) / len(listed)
