"""Articles become questions, assignments and truths; what is decided is never asked again."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.inversion import load_inversion
from tasks.inversion.naming import contains_name
from tasks.models.errors import Misconfigured
from tasks.questions import (
    PendingArticle,
    QuestionsOpen,
    find_pending_articles,
    get_inverter,
    make_questions,
)
from tasks.warehouse.pages import Page
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.truths import TRUTHS, GroundTruth
from tasks.warehouse.wiki_editions import ArticleLink
from tasks.warehouse.writer import Change
from tests.servers.fences import Parsed
from tests.servers.oracle import Answer, Oracle
from tests.servers.oracle_inversion import inverted
from tests.tasks.answering import JUDGE, answering
from tests.tasks.inversion.scripted import BRIDGES
from tests.tasks.runs import open_judge

OTHER_JUDGE = "gemini-3.5-flash-lite"
TITLE = "Bridges of the Venn"
WIKI = "https://en.wikipedia.org/wiki/"
REFERENCE = "https://history.example.org/venn"


class Model(Oracle):
    """The oracle; cannot answer steps that hold one of the `broken` blocks, and may remember."""

    def __init__(self, *broken: str, remembers: bool = False) -> None:
        super().__init__()
        self.broken = set(broken)
        self._memory = [(TITLE, BRIDGES)] if remembers else []

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        if self.broken & {block.name for block in prompt.blocks}:
            return {"nothing": "of use"}
        answer = inverted(prompt, self._memory)
        return super().decide(prompt, schema) if answer is None else answer


def article(name: str, text: str) -> Article:
    return Article(
        edition="e", article=name, title=name.replace("_", " "), url=f"{WIKI}{name}", text=text,
        text_sha=content_sha(text),
    )  # fmt: skip


BRIDGES_ARTICLE = article("Bridges_of_the_Venn", BRIDGES)
EMPTY_ARTICLE = article("Nothing_much", "# Nothing much\n\nnothing is said here of anybody at all.")


@contextmanager
def edition(folder: Path, *articles: Article) -> Iterator[Warehouse]:
    with open_warehouse(folder / "warehouse.duckdb") as warehouse:
        warehouse.write(
            Change(Edition, [Edition(edition="e", source="test")]),
            Change(Article, articles or [BRIDGES_ARTICLE]),
        )
        yield warehouse


def pending(warehouse: Warehouse, judge: str = JUDGE, n: int | None = None) -> list[PendingArticle]:
    return find_pending_articles(warehouse, "e", get_inverter(judge), n)


def work(warehouse: Warehouse, judge: str = JUDGE) -> list[str]:
    """Everything that is pending; what is said of what stays open."""

    async def all_of() -> list[str]:
        problems = []
        async with open_judge(warehouse, judge) as session:
            for item in pending(warehouse, judge):
                try:
                    await make_questions(warehouse, session, item)
                except QuestionsOpen as error:
                    problems.append(str(error))
        return problems

    return asyncio.run(all_of())


def questions(warehouse: Warehouse) -> list[Question]:
    return warehouse.rows(Question, "edition = 'e'")


def test_an_accepted_question_is_an_assignment_with_its_truth(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse, answering(model=Model()):
        assert work(warehouse) == []
        (question,) = questions(warehouse)
        (assignment,) = warehouse.rows(Assignment, "edition = 'e'")
        (truth,) = warehouse.rows(GroundTruth, "edition = 'e'")
    assert (question.state, question.reason) == ("accepted", None)
    assert (question.judge, question.model_version) == (JUDGE, JUDGE)
    assert question.category == truth.category == "entities"
    assert question.minutes is not None
    assert question.minutes > 10
    assert (question.closed_book_f1, question.single_page, question.n_pages) == (
        0, "not_assessed", 0,
    )  # fmt: skip
    assert (question.sources_rule, question.seed) == ("none", load_inversion().seed)
    assert len(json.loads(question.call_ids)) == question.pose_rounds * 2 + 3
    assert assignment.kind == "find_claims"
    assert assignment.assignment == truth.assignment == question.assignment
    assert assignment.article == "Bridges_of_the_Venn"
    assert question.question is not None
    assert question.question in str(assignment.prompt)
    assert (truth.source, truth.truths) == ("inverted", question.truths)
    (claim,) = TRUTHS.validate_json(truth.truths)
    assert (claim.value, claim.sub_claims[0].value, truth.n_claims) == ("Grace Holloway", "1852", 2)
    assert len(json.loads(truth.settings)["needed_queries"]) == question.n_queries


def test_nothing_that_an_agent_is_shown_names_the_answer_or_the_article(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse, answering(model=Model()):
        work(warehouse)
        (assignment,) = warehouse.rows(Assignment, "edition = 'e'")
    for name in ("Grace Holloway", "Holloway", TITLE, "Venn", BRIDGES_ARTICLE.url):
        assert not contains_name(str(assignment.prompt), name)
        assert not contains_name(assignment.assignment, name)
    assert "wikipedia.org" in str(assignment.prompt)


def test_what_is_decided_is_asked_no_more(tmp_path: Path) -> None:
    with (
        edition(tmp_path, BRIDGES_ARTICLE, EMPTY_ARTICLE) as warehouse,
        answering(model=Model()) as server,
    ):
        assert len(pending(warehouse)) == 2
        work(warehouse)
        before = server.log.summary()["answered"], questions(warehouse)
        assert pending(warehouse) == []
        work(warehouse)
        assert (server.log.summary()["answered"], questions(warehouse)) == before


def test_rejections_are_kept_and_counted_by_reason(tmp_path: Path) -> None:
    with (
        edition(tmp_path, BRIDGES_ARTICLE, EMPTY_ARTICLE) as warehouse,
        answering(model=Model(remembers=True)),
    ):
        work(warehouse)
        counted = warehouse.frame("SELECT state, reason, closed_book_f1 FROM questions")
        assert sorted(counted.rows(), key=str) == [
            ("rejected", "known_without_search", 1.0),
            ("rejected", "no_target", None),
        ]
        assert warehouse.rows(Assignment, "edition = 'e'") == []
        assert warehouse.rows(GroundTruth, "edition = 'e'") == []
        assert pending(warehouse) == []


def test_a_page_that_answers_it_alone_rejects_it_and_the_article_s_copy_does_not(
    tmp_path: Path,
) -> None:
    names = "Ashdown Tarrant crossing measured surveyor 14 commissioned footbridges magistrates"
    page = (
        f"A county history. It says that Grace Holloway dealt with {names} and more besides. "
        "Against Pell imported limestone preferred quarries collapse scaffolding 212 Institute "
        "Mechanics catalogued drawings notebooks."
    )
    for url, text, state in (
        (REFERENCE, page, "rejected"),
        (f"{WIKI}Bridges_of_the_Venn?action=raw", page, "accepted"),
        ("https://copy.example.org", BRIDGES, "accepted"),
    ):
        folder = tmp_path / state / content_sha(url)
        with edition(folder) as warehouse, answering(model=Model()):
            warehouse.write(
                Change(ArticleLink, [ArticleLink(edition="e", article=BRIDGES_ARTICLE.article,
                                                 number=0, url=url, raw_url=url)]),
                Change(Page, [Page(edition="e", url=url, status="ok", text=text)]),
            )  # fmt: skip
            work(warehouse)
            (question,) = questions(warehouse)
        assert question.state == state, question.detail
        if state == "rejected":
            assert (question.reason, question.single_page) == ("single_page", "answered")
            assert url in str(question.detail)


@pytest.mark.parametrize(("broken", "n_before"), [("source_article", 0), ("question_to_rate", 4)])
def test_what_a_judge_could_not_decide_is_open_and_the_next_run_goes_on(
    broken: str, n_before: int, tmp_path: Path
) -> None:
    model = Model(broken)
    with edition(tmp_path) as warehouse, answering(model=model) as server:
        (problem,) = work(warehouse)
        assert TITLE in problem
        assert "Run again" in problem
        (question,) = questions(warehouse)
        assert (question.state, question.reason) == ("open", "unparsable")
        assert warehouse.rows(Assignment, "edition = 'e'") == []
        assert len(pending(warehouse)) == 1
        model.broken.clear()
        before = server.log.summary()["answered"]
        assert work(warehouse) == []
        (question,) = questions(warehouse)
        assert question.state == "accepted"
        if n_before:  # only the step that had no answer is asked
            assert server.log.summary()["answered"] == before + 1
        assert pending(warehouse) == []


def test_a_run_that_ended_between_two_questions_goes_on_with_the_second(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse, answering(model=Model()):
        work(warehouse)
        (first,) = questions(warehouse)
        cut = first.model_copy(update={"n_targets": 2})
        warehouse.write(Change(Question, [cut]))
        assert [item.title for item in pending(warehouse)] == [BRIDGES_ARTICLE.title]


def test_an_article_keeps_the_question_of_another_judge(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse:
        with answering(model=Model()):
            work(warehouse)
        assert pending(warehouse, OTHER_JUDGE) == []


def test_an_article_whose_questions_were_rejected_may_be_tried_by_another_judge(
    tmp_path: Path,
) -> None:
    with edition(tmp_path) as warehouse:
        with answering(model=Model(remembers=True)):
            work(warehouse)
        assert len(pending(warehouse, OTHER_JUDGE)) == 1
        with answering(model=Model(), answers_as=OTHER_JUDGE):
            work(warehouse, OTHER_JUDGE)
        assert {(q.judge, q.state) for q in questions(warehouse)} == {
            (JUDGE, "rejected"), (OTHER_JUDGE, "accepted"),
        }  # fmt: skip


def test_a_changed_article_is_asked_about_anew(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse, answering(model=Model(remembers=True)):
        work(warehouse)
        assert pending(warehouse) == []
        changed = article(BRIDGES_ARTICLE.article, f"{BRIDGES}\nOne more sentence stands here now.")
        warehouse.write(Change(Article, [changed]))
        assert len(pending(warehouse)) == 1


def test_so_many_articles_are_the_same_ones_whenever_they_are_asked_for(tmp_path: Path) -> None:
    articles = [article(f"Article_{n}", f"# Article {n}\n\nnothing.") for n in range(9)]
    with edition(tmp_path, *articles) as warehouse, answering(model=Model()):
        first = [item.inversion.article for item in pending(warehouse, n=3)]
        assert first == [item.inversion.article for item in pending(warehouse, OTHER_JUDGE, n=3)]
        lot = [item.inversion.article for item in pending(warehouse)]
        assert lot[:3] == first
        assert lot != sorted(lot)
        assert len(pending(warehouse, n=0)) == 0


def test_an_edition_without_articles_has_nothing_pending(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse:
        assert find_pending_articles(warehouse, "unknown", get_inverter(JUDGE)) == []


def test_a_judge_that_calls_no_model_cannot_make_questions() -> None:
    with pytest.raises(Misconfigured, match="offline cannot make questions: it calls no model"):
        get_inverter("offline")
