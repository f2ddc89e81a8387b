"""A small question for each prompt of the research protocols, about a report and its reference."""

from collections.abc import Iterator

from tasks.judges.decisions import Criterion, DecisionRequest
from tasks.judges.questions.reports import CheckPoints, RateReport, ScorePair
from tasks.judges.questions.rubrics import GradeItems, RateKeywords, RubricItem
from tasks.judges.questions.verification import CheckCitations, VerifySupport

GRADED = (
    ("rubric_bench/grade_items", ("1", "0", "-1")),
    ("rigorous/grade_item", ("2", "1", "0")),
    ("own_rubric/grade_items", ("0", "1")),
)
"""Prompts that grade items, and the values they may give."""


def research_questions(
    title: str, report: str, reference: str, claim: str
) -> Iterator[tuple[str, DecisionRequest]]:
    """Name of the prompt and a question.

    claim: a sentence of the report.
    """
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
