"""Claims are told apart by what became of their citations, and the counts are the figures'."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.warehouse.pages import Page, PageStatus
from tasks.warehouse.results import Score
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.servers.openai import OpenAiServer
from tests.tasks.citing import (
    ARTICLE_URL,
    Claims,
    judge_all,
    judge_pending,
    page,
    score_all,
    write_edition,
)
from tests.tasks.judges.recording import Recorder, at_server, recorded

KINDS = [status for status in get_args(PageStatus) if status != "ok"]
GOOD, LONG, NEVER = "https://good.org", "https://long.org", "https://never.org"
REPORT: Claims = [
    ("red tower", [GOOD]),
    ("red tower", ["https://bot-wall.org", GOOD]),
    ("not red tower", [GOOD]),
    ("blue door", [GOOD, NEVER]),
    ("red tower", [LONG]),
    ("red tower", [NEVER]),
    ("red tower", [NEVER, "https://empty.org"]),
    ("refusing", [GOOD]),
    ("nothing", []),
    ("a", ["https://bot-wall.org", "https://soft-404.org"]),
    *((f"of {kind}", [f"https://{kind.replace('_', '-')}.org"]) for kind in KINDS),
]
EXPECTED = {
    "claims": len(REPORT), "untrusted": 0, "uncited": 1, "cited": len(REPORT) - 1,
    "evaluated": 5, "supported": 3, "contradicted": 1, "not_supported": 1, "disputed": 0, "open": 2,
    "refused": 1, "without_page": len(KINDS) + 1, "counted_pairs": 9 + len(KINDS),
    "supported_pairs": 3, "pairs_from_excerpts": 1,
}  # fmt: skip
SAME = {
    "ref_acc": ("supported_pairs", "counted_pairs"),
    "ref_acc_readable": ("supported", "evaluated"),
    "evaluated_share": ("evaluated", "cited"),
    "ref_conflict": ("contradicted", "evaluated"),
    "ref_disputed": ("disputed", "evaluated"),
}
"""By figure: the counts that its numerator and its denominator must be."""


class Excerpting(ScriptedJudge):
    """Sees a quarter of one page, and refuses to judge one claim."""

    async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[JudgeAnswer]:
        answers = await super().verify_against_page(request)
        share = 0.25 if request.url == LONG else None
        return [
            JudgeAnswer(status=Status.BLOCKED, reason="refused")
            if claim == "refusing"
            else answer.model_copy(update={"shown_share": share})
            for claim, answer in zip(request.claims, answers, strict=True)
        ]


@contextmanager
def edition(path: Path) -> Iterator[Warehouse]:
    pages = [page(f"https://{kind.replace('_', '-')}.org", status=kind) for kind in KINDS]
    with open_warehouse(path) as opened:
        write_edition(
            opened,
            {"whole": REPORT, "unlisted": REPORT, "silent": [("red tower", [])]},
            [page(GOOD, "red tower"), page(LONG, "red tower"), *pages],
            untrusted=["unlisted"],
        )
        yield opened


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    with edition(tmp_path / "w.duckdb") as opened:
        yield opened


Judged = tuple[Warehouse, Sequence[Score]]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    """The edition after `Excerpting` has judged it, and its scores; only read."""
    with edition(tmp_path_factory.mktemp("judged") / "w.duckdb") as opened:
        yield opened, judge_all(opened, Excerpting())


def counts(warehouse: Warehouse) -> dict[str, dict[str, Any]]:
    frame = warehouse.frame("SELECT * FROM reference_counts")
    return {row["agent"]: row for row in frame.to_dicts()}


def test_every_claim_is_counted_once_and_in_its_place(judged: Judged) -> None:
    found = counts(judged[0])
    assert {name: found["whole"][name] for name in EXPECTED} == EXPECTED
    assert found["whole"]["ref_acc"] == 3 / (9 + len(KINDS))
    assert found["whole"]["ref_acc_readable"] == 3 / 5
    assert found["whole"]["ref_acc_claims"] == 3 / (5 + len(KINDS) + 1)
    unlisted, silent = found["unlisted"], found["silent"]
    assert unlisted["untrusted"] == unlisted["claims"] == len(REPORT)
    assert unlisted["cited"] == 0
    assert (silent["claims"], silent["uncited"], silent["ref_acc"]) == (1, 1, None)
    for row in found.values():
        assert row["claims"] == row["untrusted"] + row["uncited"] + row["cited"]
        told_apart = ("evaluated", "open", "refused", "without_page")
        assert row["cited"] == sum(row[name] for name in told_apart)


def test_the_counts_are_the_numerators_and_denominators_of_the_figures(
    judged: Judged,
) -> None:
    warehouse, scores = judged
    found = counts(warehouse)
    compared = 0
    for score in scores:
        if score.metric in SAME:
            numerator, items = SAME[score.metric]
            row = found[score.agent]
            assert (score.numerator or 0, score.n_items) == (row[numerator], row[items])
            compared += 1
    assert compared == 3 * len(SAME)


def test_a_report_with_open_answers_is_in_neither_counts_nor_figures(warehouse: Warehouse) -> None:
    scores = judge_all(warehouse, Excerpting(frozenset({"blue door"})))
    assert set(counts(warehouse)) == {"silent"}  # the others hold that claim
    values = {s.agent: s.n_items for s in scores if s.metric == "evaluated_share"}
    assert values == {"silent": 0, "unlisted": 0, "whole": 0}


def test_a_page_that_came_but_holds_nothing_to_read_is_unreadable(tmp_path: Path) -> None:
    class Reading(ScriptedJudge):
        async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[JudgeAnswer]:
            return [JudgeAnswer(status=Status.UNFETCHABLE)] * len(request.claims)

    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        write_edition(warehouse, {"a": [("red tower", [GOOD])]}, [page(GOOD, "***")])
        judge_all(warehouse, Reading())
        row = counts(warehouse)["a"]
        state = warehouse.value("SELECT state FROM citation_states")
    assert (row["without_page"], state, row["ref_acc_claims"]) == (1, "unreadable", 0)


def test_an_excerpt_can_be_traced_from_the_model_to_the_counts(tmp_path: Path) -> None:
    filler = "\n\n".join(" ".join([f"Word{n}x{m}" for m in range(60)]) for n in range(80))
    claims = [("The mill was built in 1790.", [LONG]), ("The mill is red.", [GOOD])]
    texts = {LONG: f"{filler}\n\nThe mill was built in 1790.", GOOD: "The mill is red."}
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        write_edition(warehouse, {"a": claims}, [page(url, text) for url, text in texts.items()])

        async def judged(judge: LlmJudge) -> None:
            await judge_pending(warehouse, judge)

        at_server(OpenAiServer(), judged, page_tokens=2_000)
        score_all(warehouse, recorded(Recorder(), page_tokens=2_000))
        row = counts(warehouse)["a"]
        shown = dict(
            warehouse.frame(
                "SELECT url, shown_share FROM verdicts_explained WHERE step = 'citation'"
            ).rows()
        )
    assert (row["supported"], row["counted_pairs"], row["pairs_from_excerpts"]) == (2, 2, 1)
    assert shown[GOOD] is None
    assert 0 < shown[LONG] < 0.5


def test_a_redirect_to_the_article_is_scored_as_leakage(warehouse: Warehouse) -> None:
    def leakage() -> tuple[float | None, int]:
        (score,) = [
            score
            for score in judge_all(warehouse, ScriptedJudge())
            if (score.agent, score.metric) == ("whole", "leakage_rate")
        ]
        return score.numerator, score.n_items

    assert leakage() == (0, len(REPORT))
    led = warehouse.frame("SELECT count(*) FROM citations WHERE agent = 'whole' AND url = $1",
                          [GOOD]).item()  # fmt: skip
    redirect = page(GOOD, "red tower", final_url=ARTICLE_URL)
    warehouse.write(Change(Page, [redirect], replacing={"url": GOOD}))
    assert leakage() == (led, len(REPORT))
