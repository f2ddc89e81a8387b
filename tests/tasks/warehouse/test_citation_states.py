"""Where each citation stands: one state, by protocol and judge, and the figures that count it."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.analysis.explanation import explain_reports
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.protocols.registry import list_claim_marking
from tasks.scoring.pending import has_outdated_scores
from tasks.warehouse.explanations import CITATION_STATES
from tasks.warehouse.pages import AbsentPage, Fetch
from tasks.warehouse.results import Score, Verdict
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import (
    ASSIGNMENT,
    EDITION,
    judge_all,
    page,
    plans_by_agent,
    score_all,
    write_edition,
)
from tests.tasks.made_rows import a_row

GOOD, DENYING, COPY, WALL, BUSY = (f"https://{name}.org" for name in
                                   ("good", "denying", "copy", "wall", "busy"))  # fmt: skip
GONE, NEVER, MISSING, UNASKED, SOFT, NEXT = (f"https://{name}.org" for name in
    ("gone", "never", "missing", "unasked", "soft", "next"))  # fmt: skip
CITED = [
    ("red tower", GOOD, "supports", False),
    ("not red tower", GOOD, "contradicts", False),
    ("not red tower", DENYING, "supports", False),
    ("blue door", GOOD, "does_not_support", False),
    ("red tower", COPY, "supports", True),
    ("refusing", GOOD, "refused", False),
    ("red tower", WALL, "walled", False),
    ("red tower", BUSY, "unreadable", False),
    ("red tower", GONE, "gone", True),
    ("red tower", NEVER, "never_existed", False),
    ("red tower", MISSING, "missing", False),
    ("red tower", UNASKED, "missing", False),
    ("red tower", SOFT, "missing", False),
    ("red tower", NEXT, "open", False),
]
"""Each citation with its state, and whether its live address is gone while an archive has it."""
CLAIMS = [(text, [url]) for text, url, *_ in CITED if url != DENYING]
CLAIMS[1][1].append(DENYING)  # disputed
PAGES = [
    page(GOOD, "red tower"), page(DENYING, "not red tower"),
    page(COPY, "red tower", source="wayback"), page(WALL, status="bot_wall"),
    page(BUSY, status="unfetchable", error="host busy (HTTP 429)"),
    *(page(url, status="unfetchable") for url in (GONE, NEVER, MISSING, UNASKED)),
    page(SOFT, status="soft_404"),
]  # fmt: skip
ABSENT = {COPY: "gone", GONE: "gone", NEVER: "never_existed", MISSING: "unknown"}
ANSWERED = {COPY: 404, BUSY: 429, GONE: 404, MISSING: 410, UNASKED: 404}


class Refusing(ScriptedJudge):
    """Does not answer for one claim."""

    async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[JudgeAnswer]:
        answers = await super().verify_against_page(request)
        refused = JudgeAnswer(status=Status.BLOCKED, reason="no")
        return [refused if claim == "refusing" else answer
                for claim, answer in zip(request.claims, answers, strict=True)]  # fmt: skip


def absent(url: str, state: str) -> AbsentPage:
    return AbsentPage.model_validate(
        {"edition": EDITION, "url": url, "state": state, "reason": "so it is", "evidence": "{}"}
    )


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """A report with a citation of every state."""
    fetches = [
        Fetch(edition=EDITION, url=url, source="direct", asked_url=url, outcome="fetched",
              http_status=status)
        for url, status in ANSWERED.items()
    ]  # fmt: skip
    unknown_host = Fetch(edition=EDITION, url=NEVER, source="direct", asked_url=NEVER,
                         outcome="failed", error="there is no host never.org (DNS)")  # fmt: skip
    write_edition(warehouse, {"a": CLAIMS, "unlisted": CLAIMS}, PAGES, untrusted=["unlisted"])
    warehouse.write(
        Change(Fetch, [*fetches, unknown_host]),
        Change(AbsentPage, [absent(url, state) for url, state in ABSENT.items()]),
    )
    return warehouse


def states(warehouse: Warehouse, protocol: str = "wiki_fact") -> list[tuple[str, str, str, bool]]:
    key = "edition, protocol, judge, agent, assignment, claim_number, url"
    twice = f"SELECT count(*) - count(DISTINCT ({key})) FROM citation_states"
    assert warehouse.value(twice) == 0
    return warehouse.frame(
        "SELECT c.text, s.url, s.state, s.gone FROM citation_states AS s JOIN claims AS c "
        "ON c.edition = s.edition AND c.agent = s.agent AND c.assignment = s.assignment "
        "AND c.number = s.claim_number WHERE s.protocol = $1 "
        "ORDER BY s.claim_number, s.url DESC",
        [protocol],
    ).rows()


def figures(warehouse: Warehouse, scores: Sequence[Score]) -> dict[str, Score]:
    return {score.metric: score for score in scores if score.agent == "a"}


def test_every_citation_has_one_state_and_every_state_a_citation(warehouse: Warehouse) -> None:
    judge_all(warehouse, Refusing())
    found = states(warehouse)
    assert sorted(found) == sorted(CITED)
    assert {state for _, _, state, _ in found} == CITATION_STATES.keys()


def test_the_view_names_the_protocols_whose_verdicts_mark_claims(warehouse: Warehouse) -> None:
    view = warehouse.value("SELECT sql FROM duckdb_views() WHERE view_name = 'citation_states'", [])
    named = re.findall(r"protocol IN \(([^)]*)\)", str(view))
    marking = list_claim_marking()
    assert named
    for names in named:
        assert {*re.findall(r"'(\w+)'", names)} == {*marking}
    whole = {name for name, judged in marking.items() if judged == "whole"}
    assert {*re.findall(r"CASE\s+WHEN \(*\w*\.?protocol = '(\w+)'", str(view))} == whole


def test_before_a_report_is_judged_its_pages_say_where_its_citations_stand(
    warehouse: Warehouse,
) -> None:
    score_all(warehouse, Refusing())
    judged = {"supports", "contradicts", "does_not_support", "refused"}
    assert {(url, state) for _, url, state, _ in states(warehouse)} == {
        (url, "open" if state in judged else state) for _, url, state, _ in CITED
    }


def test_the_figures_count_the_states(warehouse: Warehouse) -> None:
    found = figures(warehouse, judge_all(warehouse, Refusing()))
    n = {state: sum(one == state for _, _, one, _ in CITED) for state in CITATION_STATES}
    paper = found["ref_acc"]
    assert (paper.numerator, paper.n_items, paper.n_open) == (
        n["supports"], len(CITED) - n["refused"] - n["open"], n["open"]
    )  # fmt: skip
    # Four claims have a verdict; one is supported by a page and contradicted by another.
    assert (found["ref_disputed"].numerator, found["ref_disputed"].n_items) == (1, 4)
    assert found["ref_conflict"].numerator == 0
    [row] = warehouse.frame("SELECT * FROM reference_counts WHERE agent = 'a'").to_dicts()
    assert (row["supported_pairs"], row["counted_pairs"]) == (paper.numerator, paper.n_items)
    assert (row["disputed"], row["open"]) == (1, 1)


def test_addresses_that_never_existed_are_a_share_of_those_that_are_known(
    warehouse: Warehouse,
) -> None:
    scores = judge_all(warehouse, Refusing())
    found = figures(warehouse, scores)["never_existed"]
    # good, denying, copy, wall, busy, gone and never; not the three missing ones.
    assert (found.numerator, found.n_items, found.n_open) == (1, 7, 1)
    [unlisted] = [s for s in scores if (s.agent, s.metric) == ("unlisted", "never_existed")]
    assert (unlisted.value, unlisted.reason) == (None, "no list of sources")


def test_what_an_archive_says_later_scores_again_and_judges_nothing(warehouse: Warehouse) -> None:
    judge = Refusing()
    judge_all(warehouse, judge)
    plan = plans_by_agent(warehouse, judge)["a"]
    assert not has_outdated_scores(warehouse, [plan])
    warehouse.write(Change(AbsentPage, [absent(UNASKED, "never_existed")]))
    assert plans_by_agent(warehouse, judge)["a"].cell_id == plan.cell_id
    assert has_outdated_scores(warehouse, [plan])
    found = figures(warehouse, score_all(warehouse, judge))["never_existed"]
    assert (found.numerator, found.n_items) == (2, 8)
    assert not has_outdated_scores(warehouse, [plan])


def test_without_any_answer_of_an_archive_the_figure_says_how_to_get_one(
    warehouse: Warehouse,
) -> None:
    waiting = [absent(url, "unknown") for url in ABSENT]  # nobody has asked yet
    warehouse.write(Change(AbsentPage, waiting, replacing={"edition": EDITION}))
    judge = Refusing()
    found = figures(warehouse, judge_all(warehouse, judge))["never_existed"]
    assert found.value is None
    assert "no archive was asked: `evergreen fetch` asks one" in str(found.reason)
    assert {state for _, url, state, _ in states(warehouse) if url in ABSENT and url != COPY} == {
        "missing"
    }
    assert not has_outdated_scores(warehouse, [plans_by_agent(warehouse, judge)["a"]])


def verdict(protocol: str, item: str, label: str | None, **more: str) -> Verdict:
    of = {"edition": EDITION, "agent": "a", "assignment": ASSIGNMENT, "step": "citation"}
    return a_row(Verdict, **of | more, protocol=protocol, item=item, label=label, cell_id=protocol)


def test_deepresearchgym_judges_a_claim_and_fact_a_statement_once(warehouse: Warehouse) -> None:
    double = {"step": "double", "status": "skipped", "reason": "says the same as claim 0"}
    said = [
        verdict("research_gym", "claim:0", "partial"),
        verdict("research_gym", "claim:1", "none"),
        verdict("research_gym", "claim:6", None, status="unfetchable"),
        verdict("fact", f"claim:0 {GOOD}", "supported"),
        verdict("fact", f"claim:1 {GOOD}", None, **double),
        verdict("fact", f"claim:1 {DENYING}", "unsupported"),
        verdict("fact", f"claim:2 {GOOD}", "unknown"),
    ]
    done = [
        a_row(Score, edition=EDITION, agent="a", assignment=ASSIGNMENT, protocol=protocol,
              cell_id=protocol, judge="j")
        for protocol in ("research_gym", "fact")
    ]  # fmt: skip
    warehouse.write(Change(Verdict, said), Change(Score, done))
    of_claims = states(warehouse, "research_gym")
    assert of_claims[:4] == [
        ("red tower", GOOD, "supports", False),
        ("not red tower", GOOD, "does_not_support", False),
        ("not red tower", DENYING, "does_not_support", False),
        ("blue door", GOOD, "open", False),
    ]
    assert ("red tower", BUSY, "unreadable", False) in of_claims
    assert states(warehouse, "fact")[:4] == [
        ("red tower", GOOD, "supports", False),
        ("not red tower", GOOD, "supports", False),
        ("not red tower", DENYING, "does_not_support", False),
        ("blue door", GOOD, "unreadable", False),
    ]


def test_a_judge_that_reads_no_pages_gives_no_citation_a_state(warehouse: Warehouse) -> None:
    of = {"edition": EDITION, "agent": "a", "assignment": ASSIGNMENT}
    warehouse.write(
        Change(Score, [a_row(Score, **of, cell_id="c")]),
        Change(Verdict, [a_row(Verdict, **of, cell_id="c", step="coverage", item="fact:0")]),
    )
    assert states(warehouse) == []


@pytest.mark.parametrize(
    ("came", "answered", "said", "state", "gone"),
    [
        ({"status": "ok"}, 404, "never_existed", "read", False),
        ({"status": "ok", "source": "jina"}, 404, None, "read", False),
        ({"status": "ok", "source": "wayback"}, 404, None, "read", True),
        ({"status": "ok", "source": "wayback"}, 410, "never_existed", "read", True),
        ({"status": "unreadable", "source": "wayback"}, 404, "never_existed", "unreadable", True),
        ({"status": "empty", "source": "wayback"}, 404, "gone", "unreadable", True),
        ({"status": "too_large"}, 404, "gone", "unreadable", True),
        ({"status": "soft_404", "source": "jina"}, 404, "never_existed", "missing", False),
        ({"status": "login_wall", "source": "jina"}, 404, "never_existed", "walled", False),
        ({"status": "robots"}, None, None, "walled", False),
        ({"status": "unfetchable"}, 403, "never_existed", "walled", False),
        ({"status": "unfetchable"}, 503, "never_existed", "unreadable", False),
        ({"status": "refused"}, None, None, "unreadable", False),
        ({"status": "unfetchable"}, 404, "never_existed", "never_existed", False),
        ({"status": "unfetchable"}, 404, "gone", "gone", True),
        ({"status": "unfetchable", "source": "wayback"}, 404, None, "missing", False),
        ({"status": "unfetchable"}, 404, "unknown", "missing", False),
        (None, 404, "never_existed", "open", False),
        (None, 503, None, "open", False),
    ],
)
def test_what_a_row_of_absent_pages_says_does_not_outlive_its_page(
    came: dict[str, str] | None, answered: int | None, said: str | None, state: str, gone: bool,
    tmp_path: Path,
) -> None:  # fmt: skip
    pages = [page(GOOD, **came)] if came else []
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        write_edition(opened, {"a": [("red tower", [GOOD])]}, pages)
        looked = Fetch(edition=EDITION, url=GOOD, source="direct", asked_url=GOOD,
                       outcome="fetched", http_status=answered)  # fmt: skip
        opened.write(
            Change(Fetch, [looked]), Change(AbsentPage, [absent(GOOD, said)] if said else [])
        )
        [found] = opened.frame("SELECT state, gone FROM page_states").rows()
    assert found == (state, gone)


def test_an_explained_report_says_what_is_known_of_addresses_that_are_gone(
    warehouse: Warehouse,
) -> None:
    [report] = explain_reports(warehouse, EDITION, "a")
    cited = [citation for claim in report.claims for citation in claim.citations]
    said = {each.url: each.page.described_status for each in cited if each.page}
    assert said == {
        GOOD: "ok", DENYING: "ok", WALL: "bot_wall", BUSY: "unfetchable",
        COPY: "ok, of an address that is gone", GONE: "unfetchable, gone (an archive has it)",
        NEVER: "unfetchable, never existed", MISSING: "unfetchable, missing, unknown",
        UNASKED: "unfetchable, missing, unknown", SOFT: "soft_404, missing, unknown",
    }  # fmt: skip
