"""Which statements does an article, or a report, make?"""

from collections.abc import Iterable

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import ReplyModel
from tasks.judges.text import collapse_whitespace, has_words


class ReplyFact(ReplyModel):
    statement: str


class ReplyFacts(ReplyModel):
    facts: list[ReplyFact]


class ReplyClaim(ReplyModel):
    statement: str
    markers: list[str]
    """Citation markers as they stand in the text."""


class ReplyClaims(ReplyModel):
    claims: list[ReplyClaim]


class ExtractedStatement(Frozen):
    """An extracted statement; `markers` as they stand in the text, empty for facts."""

    text: str
    markers: tuple[str, ...] = ()


class ExtractFacts(StepRequest[tuple[ExtractedStatement, ...]]):
    """Extract atomic, self-contained statements from a reference article."""

    forms = (ReplyFacts,)

    title: str
    text: str
    prompt: str = "extraction/facts"

    async def ask(
        self, model: PromptedModel, *, again: bool = False
    ) -> StepAnswer[tuple[ExtractedStatement, ...]]:
        """Extract the statements. again: ask about the empty list that the model answered."""

        def read(reply: ReplyFacts) -> tuple[ExtractedStatement, ...]:
            return _list_statements(
                ExtractedStatement(text=collapse_whitespace(fact.statement)) for fact in reply.facts
            )

        doubted = ReplyFacts(facts=[]) if again else None
        return await model.answer_step(self, ReplyFacts, read, doubted=doubted)


class ExtractClaims(StepRequest[tuple[ExtractedStatement, ...]]):
    """Extract atomic, self-contained statements from a report, with the markers they cite."""

    forms = (ReplyClaims,)

    title: str
    text: str
    prompt: str = "extraction/claims"

    async def ask(
        self, model: PromptedModel, *, again: bool = False
    ) -> StepAnswer[tuple[ExtractedStatement, ...]]:
        """Extract the statements. again: ask about the empty list that the model answered."""

        def read(reply: ReplyClaims) -> tuple[ExtractedStatement, ...]:
            return _list_statements(
                ExtractedStatement(
                    text=collapse_whitespace(claim.statement), markers=tuple(claim.markers)
                )
                for claim in reply.claims
            )

        doubted = ReplyClaims(claims=[]) if again else None
        return await model.answer_step(self, ReplyClaims, read, doubted=doubted)


def _list_statements(found: Iterable[ExtractedStatement]) -> tuple[ExtractedStatement, ...]:
    """Return the statements with a text; none if no letter or digit stands in any of them."""
    stated = tuple(statement for statement in found if statement.text)
    return stated if any(has_words(statement.text) for statement in stated) else ()
