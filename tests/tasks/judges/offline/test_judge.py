"""The offline judge: honest about what it cannot see, the same in every process."""

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.errors import ConfigurationError
from tasks.judges.decisions import CONSISTENT, NOT_SUPPORT, SUPPORT, Judge, JudgeAnswer
from tasks.judges.offline import judge as offline
from tasks.judges.offline import weights
from tasks.judges.offline.judge import DISCLAIMER, MAX_EVIDENCE_CHARS, OfflineJudge
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.offline.weights import STEMS_FILE, WEIGHTS_FILE, load_background, load_weights
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.text import split_sentences
from tasks.warehouse.rows import Status
from tests.tasks.judges.llm.requests import MATCH, PAIR, RATE, VALUES

ROOT = Path(__file__).resolve().parents[4]
JUDGE = OfflineJudge()
THRESHOLDS = load_weights()[0].thresholds
POOL = (
    "The Northern Line between Fall River and New Bedford opened in 1875.",
    "It was 12.4 miles long and had five stations.",
    "Passenger service ended in 1958.",
)
SENTENCE = st.text(alphabet="Line opened in 1875 not miles.", max_size=60)


def claims_verified(claims: tuple[str, ...], pool: tuple[str, ...] = POOL) -> list[JudgeAnswer]:
    retrieved = Bm25(pool).top_many(claims, 10)
    request = VerifyClaims(claims=claims, pool=pool, retrieved=retrieved)
    return list(asyncio.run(JUDGE.decide(request)))


def page_verified(claim: str, page: str) -> JudgeAnswer:
    request = VerifyAgainstPage(claims=(claim,), url="https://example.org/line", page=page)
    return asyncio.run(JUDGE.decide(request))[0]


def test_it_is_a_judge() -> None:
    judge: Judge = JUDGE
    assert {kind.__name__ for kind in judge.decides} == {
        "VerifyClaims", "VerifyAgainstPage", "CheckPoints", "VerifySupport", "CheckCitations",
    }  # fmt: skip
    assert not judge.sees_conflict
    assert judge.model_version.endswith(judge.prompt_sha("wiki_fact")[:8])


def test_a_claim_that_stands_in_the_pool_is_consistent() -> None:
    answer = claims_verified((POOL[0],))[0]
    assert (answer.status, answer.label) == (Status.OK, CONSISTENT)
    assert answer.score is not None
    assert answer.score > 0.9
    assert answer.evidence == POOL[0]
    assert answer.reason is not None
    assert answer.reason.startswith(DISCLAIMER)


def test_a_wrong_number_forbids_consistent_and_support() -> None:
    wrong = POOL[0].replace("1875", "1906")
    answer = claims_verified((wrong,))[0]
    assert answer.label == NOT_SUPPORT
    assert answer.score is not None
    assert answer.score <= offline.VETOED
    assert "number 1906 missing: veto" in str(answer.reason)
    page = "\n\n".join(POOL)
    assert page_verified(POOL[0], page).label == SUPPORT
    assert page_verified(wrong, page).label == NOT_SUPPORT


@pytest.mark.parametrize(
    ("claim", "sentence", "why"),
    [
        (POOL[0], POOL[0].replace("opened", "was not opened"), "denies"),
        (POOL[0], POOL[0].replace("1875", "1906") + " Another opened in 1875.", "number"),
    ],
)
def test_what_a_veto_takes_back_is_improbable_and_not_supported_in_every_family(
    claim: str, sentence: str, why: str
) -> None:
    pool = split_sentences(sentence)
    assert claims_verified((claim,), pool=(claim,))[0].label == CONSISTENT
    for answer in (claims_verified((claim,), pool=pool)[0], page_verified(claim, sentence)):
        assert answer.label == NOT_SUPPORT
        assert answer.score == offline.VETOED
        assert why in str(answer.reason)
    point = asyncio.run(JUDGE.decide(CheckPoints(question="", report=sentence, points=(claim,))))
    assert (point[0].label, point[0].score) == ("omitted", offline.VETOED)


def test_a_number_that_another_sentence_holds_is_shown_with_it() -> None:
    page = "The wheel lifts boats in Falkirk. They come out 24 metres higher than they went in."
    answer = page_verified("The wheel raises boats by 24 metres in Falkirk.", page)
    assert answer.evidence == "The wheel lifts boats in Falkirk."
    assert "“They come out 24 metres higher than they went in.”" in str(answer.reason)
    assert "another sentence" not in str(page_verified(POOL[0], " ".join(POOL)).reason)


def test_a_number_in_a_link_target_is_no_evidence() -> None:
    page = "[The Northern Line](https://x.org/1875) between Fall River and New Bedford opened."
    assert "1875 missing" in str(page_verified(POOL[0], page).reason)


def test_an_empty_pool_is_not_support_and_says_why() -> None:
    answer = claims_verified((POOL[0],), pool=())[0]
    assert (answer.status, answer.label, answer.score) == (Status.OK, NOT_SUPPORT, 0.0)
    assert "no sentence shares a word" in str(answer.reason)


@pytest.mark.parametrize("claim", ["", "  ", "…", "it was"])
def test_a_claim_without_words_is_not_assessed(claim: str) -> None:
    assert claims_verified((claim,))[0].status is Status.NOT_ASSESSED


@pytest.mark.parametrize("page", ["", " \n", "![logo](https://x.org/logo.png)", "***"])
def test_an_empty_page_is_not_evidence(page: str) -> None:
    answer = page_verified(POOL[0], page)
    assert (answer.status, answer.label) == (Status.UNFETCHABLE, None)


def test_a_page_that_is_cut_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "MAX_PAGE_CHARS", 100)
    answer = page_verified(POOL[2], " ".join(POOL))
    assert answer.label == NOT_SUPPORT
    assert "page cut at 100 characters" in str(answer.reason)
    assert answer.shown_share == 100 / len(" ".join(POOL))
    assert page_verified(POOL[0], POOL[0]).shown_share is None


def test_only_pages_longer_than_ever_read_before_change_the_keys_of_their_verdicts() -> None:
    assert JUDGE.page_key_parts(offline.EARLIER_MAX_PAGE_CHARS, 1_000) == ()
    (reading,) = JUDGE.page_key_parts(offline.EARLIER_MAX_PAGE_CHARS + 1, 1)
    assert str(offline.MAX_PAGE_CHARS) in reading


def test_the_evidence_is_short() -> None:
    long = "The Northern Line opened in 1875 " + "and went on and on " * 40
    answer = page_verified("The Northern Line opened in 1875.", long)
    assert answer.evidence is not None
    assert len(answer.evidence) <= MAX_EVIDENCE_CHARS


@pytest.mark.parametrize(("request_", "n"), [(PAIR, 12), (MATCH, 4), (VALUES, 3), (RATE, 2)])
def test_what_words_cannot_decide_is_not_assessed(request_: Any, n: int) -> None:
    assert type(request_) not in JUDGE.decides
    answers = asyncio.run(JUDGE.decide(request_))
    assert [answer.status for answer in answers] == [Status.NOT_ASSESSED] * n


@settings(deadline=None)
@given(st.lists(SENTENCE, max_size=4), st.lists(SENTENCE, max_size=6), SENTENCE)
def test_it_never_says_that_something_is_contradicted(
    claims: list[str], pool: list[str], page: str
) -> None:
    answers = claims_verified(tuple(claims), tuple(pool))
    assert len(answers) == len(claims)
    answers += [page_verified(claim, page) for claim in claims]
    for answer in answers:
        assert answer.label in {CONSISTENT, SUPPORT, NOT_SUPPORT, None}
        assert (answer.label is not None) == (answer.status is Status.OK)
        assert answer.score is None or 0 <= answer.score <= 1
        least = THRESHOLDS.claim_in_page if answer.label == SUPPORT else THRESHOLDS.fact_in_report
        if answer.label in {CONSISTENT, SUPPORT}:
            assert answer.score is not None
            assert answer.score >= least


def test_a_pickled_judge_answers_the_same() -> None:
    page_verified(POOL[0], POOL[0])  # something in its cache
    copy = pickle.loads(pickle.dumps(JUDGE))
    request = VerifyAgainstPage(claims=POOL, url="u", page="\n".join(POOL[:2]))
    answers = [asyncio.run(judge.decide(request)) for judge in (JUDGE, copy)]
    assert answers[0] == answers[1]


def test_other_counts_of_stems_and_other_weights_are_other_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stems, changed = tmp_path / "stems.txt", tmp_path / "weights.yaml"
    stems.write_text(STEMS_FILE.read_text("utf-8").replace("tower ", "tower 1"), "utf-8")
    changed.write_text(WEIGHTS_FILE.read_text("utf-8").replace("passage: 4", "passage: 5"), "utf-8")
    judge = OfflineJudge(changed)
    assert judge.prompt_sha("wiki_fact") != JUDGE.prompt_sha("wiki_fact")
    assert judge.model_version != JUDGE.model_version
    monkeypatch.setattr(weights, "load_background", lambda: load_background(stems))
    assert OfflineJudge().model_version != JUDGE.model_version


def test_a_broken_table_of_stems_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "stems.txt"
    broken.write_text("650\ntower many\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"stems\.txt: expected a number of documents"):
        load_background(broken)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [("passage: ", "passages: ", "passages"), ("  bigrams: ", "  bigrams: -", "bigrams"),
     ("version: 2", "version: 99", "version"), ("version: 2", "version: 1", "version")],
)  # fmt: skip
def test_weights_that_do_not_fit_are_refused(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    bad = tmp_path / "weights.yaml"
    bad.write_text(WEIGHTS_FILE.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(ConfigurationError, match=named) as raised:
        OfflineJudge(bad)
    assert str(bad) in str(raised.value)
