"""What Wiki Fact asks a model, counted at its server: no sentence is judged twice for money."""

import asyncio
from collections.abc import Sequence

import pytest

from tasks.judges.llm.counting import CountingSender
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.offline.retrieval import Bm25, EvidenceRetriever
from tasks.protocols.case import Case, ItemAnswer
from tasks.warehouse.rows import Status
from tests.servers.openai import OpenAiServer
from tests.tasks.judges.recording import at_server, entry
from tests.tasks.models.scripted import MemoryLedger
from tests.tasks.protocols.test_wiki_fact import PROTOCOL, URL, case

TOWERS = [f"The tower was painted red in {1900 + n}." for n in range(12)]
FACTS = ["The tower was painted red.", "The tower has a blue door.", "Red paint covers the tower."]
CLAIMS = [(text, list[str]()) for text in TOWERS]
CLEAN = case(FACTS, CLAIMS)
LEAKY = case(FACTS, [*CLAIMS, ("A blue door is in the tower.", [URL])])


def judge_at(
    server: OpenAiServer, of: Case, ledger: MemoryLedger, claims_per_call: int = 1
) -> list[ItemAnswer]:
    return at_server(
        server, lambda judge: PROTOCOL.judge(of, judge), ledger, claims_per_call=claims_per_call
    )


def coverage_calls(decided: Sequence[ItemAnswer], step: str) -> list[str | None]:
    return [item.answer.call_id for item in decided if item.step == step]


def estimate(of: Case, claims_per_call: int) -> int:
    sender = CountingSender(None)
    asyncio.run(
        PROTOCOL.judge(of, LlmJudge("a_judge", entry(claims_per_call=claims_per_call), sender))
    )
    return len(sender.requests)


@pytest.mark.parametrize(("claims_per_call", "n_coverage"), [(1, 4), (3, 2)])
def test_a_fact_with_the_same_evidence_is_bought_once_and_estimated_once(
    claims_per_call: int, n_coverage: int
) -> None:
    server, ledger = OpenAiServer(), MemoryLedger()
    decided = judge_at(server, LEAKY, ledger, claims_per_call)
    assert {i.answer.status for i in decided if i.step != "citation"} == {Status.OK}
    filtered, whole = (coverage_calls(decided, step) for step in ("coverage", "coverage_all"))
    differing = [left != right for left, right in zip(filtered, whole, strict=True)]
    assert differing == [False, True, False]  # only the leaked claim speaks of a door
    assert len({*filtered, *whole}) == n_coverage
    assert len(server.log.entries) == len(ledger.calls) == estimate(LEAKY, claims_per_call)


def test_without_a_leak_both_coverages_rest_on_the_same_calls() -> None:
    server, ledger = OpenAiServer(), MemoryLedger()
    decided = judge_at(server, CLEAN, ledger)
    assert {item.step for item in decided} == {"coverage", "conflict"}
    assert len(server.log.entries) == len(FACTS) + len(CLAIMS) == estimate(CLEAN, 1)


def test_judged_again_nothing_is_bought_and_equal_reports_share_their_calls() -> None:
    server, ledger = OpenAiServer(), MemoryLedger()
    first = judge_at(server, LEAKY, ledger)
    n_bought = len(server.log.entries)
    assert judge_at(server, LEAKY, ledger) == first
    assert len(server.log.entries) == n_bought

    async def judge_twice(judge: LlmJudge) -> Sequence[list[ItemAnswer]]:
        return await asyncio.gather(PROTOCOL.judge(LEAKY, judge), PROTOCOL.judge(LEAKY, judge))

    other = OpenAiServer()
    left, right = at_server(other, judge_twice, MemoryLedger())
    assert left == right
    assert len(other.log.entries) == n_bought


def test_what_version_1_bought_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1 showed only sentences that share a word."""
    few = case([FACTS[0], "A keeper lived there."], CLAIMS)
    server, ledger = OpenAiServer(), MemoryLedger()
    with monkeypatch.context() as patch:
        patch.setattr(EvidenceRetriever, "top_many", _retrieve_as_version_1)
        before = judge_at(server, few, ledger)
    # Of claims, only one fact shares a word with them; nobody was asked about the keeper.
    assert len(server.log.entries) == 1 + len(CLAIMS)
    assert before[1].answer.call_id is None
    now = judge_at(server, few, ledger)
    assert now[0] == before[0]
    assert now[1].answer.call_id
    # New: the keeper, and claims that are shown the second fact as well.
    assert len(server.log.entries) == 1 + len(CLAIMS) + 1 + len(CLAIMS)


def _retrieve_as_version_1(
    self: EvidenceRetriever, queries: Sequence[str], k: int
) -> tuple[tuple[int, ...], ...]:
    return Bm25(self._sentences).top_many(queries, k)
