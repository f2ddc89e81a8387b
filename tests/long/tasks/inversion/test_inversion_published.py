"""Ten real articles turned around by the oracle, over a real socket: what comes out holds."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from tasks.configuration.inversion import load_inversion
from tasks.inversion.checks import SourceArticle, find_question_problem
from tasks.judges.questions.find_targets import QuestionTarget
from tasks.judges.text import occurs_in
from tasks.questions import find_pending_articles, get_inverter, make_questions
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.truths import TRUTHS
from tasks.warehouse.writer import Change
from tests.servers.gemini import GeminiServer
from tests.servers.serving import serving
from tests.tasks.runs import open_judge

JUDGE = "gemini-3.8-flash"
N_ARTICLES = 10
ARTICLES = Path(__file__).parents[5] / "shared/data/wlc/2025_Mar_Nov/wiki_data/cleaned_data/article"

pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(not ARTICLES.is_dir(), reason=f"{ARTICLES} is absent"),
]


def read_articles() -> list[Article]:
    texts = {path.stem: path.read_text("utf-8") for path in sorted(ARTICLES.glob("*.md"))}
    return [
        Article(
            edition="e", article=name, title=name.replace("_", " "), text=text,
            url=f"https://en.wikipedia.org/wiki/{name}", text_sha=content_sha(text),
        )
        for name, text in texts.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Question], list[Assignment]]:
    path = tmp_path_factory.mktemp("inversion") / "warehouse.duckdb"

    async def work() -> None:
        async with open_judge(warehouse, JUDGE) as session:
            for pending in find_pending_articles(warehouse, "e", get_inverter(JUDGE), N_ARTICLES):
                await make_questions(warehouse, session, pending)

    with (
        open_warehouse(path) as warehouse,
        serving(GeminiServer(answers_as=JUDGE)) as address,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("GEMINI_API_KEY", "test-key")
        patch.setenv("GOOGLE_GEMINI_BASE_URL", address)
        warehouse.write(
            Change(Edition, [Edition(edition="e", source="test")]),
            Change(Article, read_articles()),
        )
        asyncio.run(work())
        return warehouse.rows(Question, "true"), warehouse.rows(Assignment, "true")


Made = tuple[list[Question], list[Assignment]]


def test_every_article_has_questions_and_each_is_accepted_or_rejected(made: Made) -> None:
    questions, assignments = made
    assert len({question.article for question in questions}) == N_ARTICLES
    states = Counter(question.state for question in questions)
    assert set(states) == {"accepted", "rejected"}
    assert states["accepted"] == len(assignments) >= 10
    assert all(question.reason for question in questions if question.state == "rejected")


def test_every_question_has_a_category_unless_no_target_was_named(made: Made) -> None:
    questions, _ = made
    assert {q.reason for q in questions if q.category is None} <= {"no_target"}


def test_accepted_questions_stand_every_check_once_more(made: Made) -> None:
    questions, _ = made
    texts = {article.article: article for article in read_articles()}
    for question in questions:
        if question.state != "accepted":
            continue
        article = texts[question.article]
        source = SourceArticle(title=article.title, url=article.url, text=article.text)
        target = QuestionTarget.model_validate_json(question.target or "")
        assert question.question
        assert find_question_problem(question.question, target, source, load_inversion()) is None
        for truth in TRUTHS.validate_json(question.truths or ""):
            for claim in (truth, *truth.sub_claims):
                added = claim.value in {other["value"] for other in json.loads(question.others)}
                assert added or occurs_in(claim.sentence or "", article.text)
        assert question.closed_book_f1 is not None
        assert question.minutes is not None
        assert question.minutes > 10
        assert question.n_queries is not None
        assert question.n_queries >= 10
        assert question.single_page == "not_assessed"  # only the articles are there
