"""Statements against their page, through the real clients: whole pages, excerpts, groups."""

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.llm.excerpts import count_bytes, load_notice
from tasks.judges.questions.page_questions import split_evenly
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.text import occurs_in
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.rows import Status
from tests.servers.base import ModelServer
from tests.servers.fences import parse
from tests.servers.openai import OpenAiServer
from tests.servers.oracle import Oracle
from tests.servers.test_servers import BOTH
from tests.tasks.judges.llm.requests import ON_PAGE
from tests.tasks.judges.recording import Changing, Recorder, at_server, recorded
from tests.tasks.models.scripted import MemoryLedger

MARK = re.compile(r"\n\[… [\d,]+ characters left out …\]\n")
PAGE_TOKENS = 2_000
FILLER = "\n\n".join(
    " ".join([f"Word{n}x{m}" for m in range(60)]) + "." for n in range(80)
)  # Paragraphs that share no word with any statement.
LONG = VerifyAgainstPage(
    claims=("The tower opened in 1889.", "The bridge was closed in 1900.", "Painters earn little."),
    url="https://example.org/tower",
    page="\n\n".join(
        ["# Tower\nBy A. Writer.", FILLER, "In 1889 the tower opened to visitors.", FILLER,
         "The bridge was closed in 1906.", FILLER]
    ),
)  # fmt: skip


class Seeing(Oracle):
    """Notes what it is shown; has no usable answer to what holds one of `failing`."""

    def __init__(self, *failing: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, str]] = []
        self.failing = failing

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        self.seen.append((system, user))
        if any(word in user for word in self.failing):
            return "I had rather not say."
        return super().answer(system, user, schema)

    def pages(self) -> list[str]:
        return [parse(user).texts("page")[0] for _, user in self.seen]

    def statements(self) -> list[int]:
        return [len(parse(user).texts("statement")) for _, user in self.seen]


def answered(
    server: ModelServer, request: VerifyAgainstPage, ledger: MemoryLedger | None = None, **more: Any
) -> list[JudgeAnswer]:
    return list(at_server(server, lambda judge: judge.decide(request), ledger, **more))


@BOTH
def test_a_page_beyond_the_bound_is_shown_as_an_excerpt_that_says_so(
    kind: type[ModelServer],
) -> None:
    model = Seeing()
    answers = answered(kind(model=model), LONG, page_tokens=PAGE_TOKENS)
    assert [answer.label for answer in answers] == ["support", "conflict", "not_support"]
    ((system, _),) = model.seen
    (page,) = model.pages()
    assert load_notice().system in system
    assert count_bytes(page) <= PAGE_TOKENS * BYTES_PER_TOKEN
    assert len(MARK.findall(page)) == 3
    assert page.startswith("# Tower\nBy A. Writer.")
    assert "In 1889 the tower opened to visitors." in page
    assert "The bridge was closed in 1906." in page
    shown = sum(map(len, MARK.split(page))) / len(LONG.page)
    assert [answer.shown_share for answer in answers] == [shown] * 3
    for answer in answers[:2]:
        assert answer.evidence
        assert occurs_in(answer.evidence, LONG.page)


@BOTH
def test_a_page_within_the_bound_is_shown_whole_and_nothing_is_said(
    kind: type[ModelServer],
) -> None:
    model = Seeing()
    exactly = count_bytes(LONG.page) / BYTES_PER_TOKEN + 1
    answers = answered(kind(model=model), LONG, page_tokens=int(exactly))
    assert model.pages() == [LONG.page]
    assert load_notice().system not in model.seen[0][0]
    assert [answer.shown_share for answer in answers] == [None] * 3


def test_a_page_that_is_longer_than_the_model_reads_is_no_longer_given_up() -> None:
    model = Seeing()
    answers = answered(OpenAiServer(model=model), LONG, context_tokens=4_000)
    assert [answer.label for answer in answers] == ["support", "conflict", "not_support"]
    assert count_bytes(model.pages()[0]) <= 3_000 * BYTES_PER_TOKEN


MANY = VerifyAgainstPage(
    claims=tuple(f"The tower opened in {1880 + n}." for n in range(25)),
    url="https://example.org/tower",
    page="In 1889 the tower opened.",
)


@BOTH
def test_many_statements_are_asked_in_groups_alike_in_size(kind: type[ModelServer]) -> None:
    model, ledger = Seeing(), MemoryLedger()
    answers = answered(kind(model=model), MANY, ledger, page_claims_per_call=10)
    assert sorted(model.statements()) == [7, 9, 9]
    assert [a.label == "support" for a in answers] == [n == 9 for n in range(25)]
    assert [a.asked_together for a in answers] == [9] * 18 + [7] * 7
    assert len(ledger.calls) == 3


def test_a_group_that_fails_leaves_the_answers_of_the_others() -> None:
    model = Seeing("1889.\n<<<END statement")
    answers = answered(OpenAiServer(model=model), MANY, page_claims_per_call=10)
    assert {a.status for a in answers[:9]} == {Status.OK}
    assert {a.status for a in answers[9:18]} == {Status.UNPARSABLE}
    assert {a.status for a in answers[18:]} == {Status.OK}


def test_each_group_sees_the_passages_of_its_own_statements() -> None:
    model = Seeing()
    two = LONG.model_copy(update={"claims": LONG.claims[:2]})
    settings: dict[str, Any] = {"page_tokens": PAGE_TOKENS, "page_claims_per_call": 1}
    answered(OpenAiServer(model=model), two, **settings)
    tower, bridge = sorted(model.pages(), key=lambda page: "The bridge was closed" in page)
    assert "In 1889 the tower" in tower
    assert "In 1889 the tower" not in bridge


def test_a_quote_that_joins_what_a_mark_separates_is_no_evidence() -> None:
    opened = "In 1889 the tower opened to visitors."

    def join(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        assert results[0]["passage"] == opened
        return [results[0] | {"passage": f"By A. Writer. {opened}"}, *results[1:]]

    answers = answered(OpenAiServer(model=Changing(join)), LONG, page_tokens=PAGE_TOKENS)
    assert (answers[0].label, answers[0].evidence) == ("support", None)
    assert answers[1].evidence


@given(st.lists(st.text(max_size=3), max_size=200), st.integers(1, 70))
def test_groups_are_in_order_small_enough_and_few(claims: list[str], most: int) -> None:
    groups = split_evenly(claims, most)
    assert [claim for group in groups for claim in group] == claims
    assert all(0 < len(group) <= most for group in groups)
    assert len(groups) == -(-len(claims) // most)


REQUESTS = {
    "80613d1816b8b41dc79661375723584169e8b9d3c808b6bd65f66a6d1f3d86f4": (ON_PAGE, {}),
    "6de9c486c81b8ae8fdaa585909dc7cfee40d80762e202177eb23f0d1d61b297f": (
        ON_PAGE,
        {"schema_names_items": True},
    ),
    "e229d3b16ae3fd421bf967ebf12915b4f8fc994d99d52b1a99564e6a0149e938": (
        VerifyAgainstPage(
            claims=tuple(f"Statement {n}." for n in range(60)),
            url="https://example.org/tower",
            page="word " * 20_000,
        ),
        {},
    ),
}


@pytest.mark.parametrize("request_id", REQUESTS)
def test_questions_about_whole_pages_keep_the_addresses_under_which_they_were_bought(
    request_id: str,
) -> None:
    # Written down before pages were ever cut. Only another prompt may change them.
    recorder = Recorder()
    request, settings = REQUESTS[request_id]
    asyncio.run(recorded(recorder, **settings).decide(request))
    assert [asked.request_id for asked in recorder.asked] == [request_id]


def test_how_pages_are_read_is_said_only_where_it_is_not_whole_and_at_once() -> None:
    def reading(longest: int, most: int, **more: Any) -> tuple[str, ...]:
        return recorded(Recorder(), page_tokens=PAGE_TOKENS, **more).page_key_parts(longest, most)

    bound = int(PAGE_TOKENS * BYTES_PER_TOKEN)
    assert reading(bound, 60) == ()
    assert len(reading(bound + 1, 60)) == len(reading(bound, 61)) == 1
    assert len(reading(bound + 1, 61)) == 2
    assert load_notice().sha in reading(bound + 1, 1)[0]
    others = [reading(bound + 1, 61), reading(bound + 1, 61, page_claims_per_call=7)]
    assert others[0] != others[1]
    wider = recorded(Recorder(), page_tokens=PAGE_TOKENS + 1).page_key_parts(9 * bound, 1)
    assert wider != reading(9 * bound, 1)
