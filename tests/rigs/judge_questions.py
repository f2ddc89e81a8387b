"""A small question for each prompt by which judges decide, about a report and its reference."""

from collections.abc import Iterator

from tasks.judges.decisions import Criterion, DecisionRequest
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.questions.check_citations import CheckCitations
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.compare_articles import CompareArticles
from tasks.judges.questions.grade_items import GradeItems, RubricItem
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.score_pair import ScorePair
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.questions.verify_support import VerifySupport
from tasks.judges.text import split_sentences
from tasks.protocols.registry import get_protocol
from tasks.protocols.wiki_writing import WikiWriting

GRADED = (
    ("rubric_bench/grade_items", ("1", "0", "-1")),
    ("rigorous/grade_item", ("2", "1", "0")),
    ("own_rubric/grade_items", ("0", "1")),
)
"""Prompts that grade items, and the values they may give."""
FOUND = 10
"""Sentences of evidence."""


def judge_questions(
    title: str, report: str, reference: str, claim: str
) -> Iterator[tuple[str, DecisionRequest]]:
    """Name of the prompt and a question.

    claim: a sentence of the report.
    """
    pool = tuple(split_sentences(reference))
    found = tuple(Bm25(pool).top(claim, FOUND))
    yield "verify_claims", VerifyClaims(claims=(claim,), pool=pool, retrieved=(found,))
    page = " ".join(pool[index] for index in sorted(found)) or reference[:500]
    url = "https://example.org/"
    yield "verify_against_page", VerifyAgainstPage(claims=(claim,), url=url, page=page)
    writing = get_protocol("wiki_writing")
    assert isinstance(writing, WikiWriting)
    category = writing.criteria.categories[0]
    few = tuple(Criterion(id=each.id, text=each.text) for each in category.all_criteria[:3])
    yield (
        "compare_articles",
        CompareArticles(category=category.id, criteria=few, first=reference, second=report),
    )
    yield from research_questions(title, report, reference, claim)


def research_questions(
    title: str, report: str, reference: str, claim: str
) -> Iterator[tuple[str, DecisionRequest]]:
    """The same for the prompts of the research protocols."""
    question = f"What is {title}?"
    criteria = (
        Criterion(id="clear", text="It is clear."),
        Criterion(id="deep", text="It explains why things are as they are."),
    )
    asked: list[DecisionRequest] = [
        CheckPoints(question=question, report=report, points=(claim,)),
        CheckPoints(question=question, report=report, points=(claim,),
                    prompt="own_rubric/check_points"),
        VerifySupport(claims=(claim,), pages=(reference,)),
        RateReport(question=question, report=report, criteria=criteria),
        RateKeywords(report=report, keywords=(title, "railway")),
        ScorePair(task=question, report=report, reference=reference, criteria=criteria[:1]),
        CheckCitations(claims=(claim,), url="https://example.org/a", page=reference),
    ]  # fmt: skip
    for prompt, allowed in GRADED:
        item = RubricItem(id="a-1", text=f"It says what {title} is.", allowed=allowed)
        asked.append(GradeItems(question=question, report=report, items=(item,), prompt=prompt))
    for decision in asked:
        yield decision.model_dump(include={"prompt"})["prompt"], decision
