"""Which statements do texts make, and which points of documents help to answer a query?"""

from collections.abc import Iterable

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import ReplyModel
from tasks.judges.text import collapse_whitespace, has_words, occurs_in
from tasks.models.gateway import InvalidReply


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


class ReplyPoint(ReplyModel):
    point: str
    spans: list[str]
    """Quotations from the document."""


class ReplyPoints(ReplyModel):
    points: list[ReplyPoint]


class FoundKeyPoint(Frozen):
    """A key point with the judge's quotations for it."""

    text: str
    spans: tuple[str, ...] = ()


class ExtractKeyPoints(StepRequest[tuple[FoundKeyPoint, ...]]):
    """Which points of this document help to answer the query, and where does it state them?"""

    forms = (ReplyPoints,)

    question: str
    document: str
    prompt: str = "key_points/extract"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[FoundKeyPoint, ...]]:
        """Extract the points. An answer is unusable if no span of its points stands in the
        document; the spans of each single point are not checked here."""

        def read(reply: ReplyPoints) -> tuple[FoundKeyPoint, ...]:
            return tuple(
                FoundKeyPoint(text=text, spans=tuple(stated.spans))
                for stated in reply.points
                if (text := collapse_whitespace(stated.point))
            )

        def check(reply: ReplyPoints) -> None:
            spans = {s for stated in reply.points if stated.point.strip() for s in stated.spans}
            if reply.points and not any(occurs_in(span, self.document) for span in spans):
                raise InvalidReply(
                    f"spans: no span stands in the document, word for word ({len(spans)} given)"
                )

        return await model.answer_step(self, ReplyPoints, read, check)


class ReplyMergedPoint(ReplyModel):
    merged_from: list[int]
    """1-based numbers of the points merged in it."""
    point: str


class ReplyMergedPoints(ReplyModel):
    points: list[ReplyMergedPoint]


class MergedKeyPoint(Frozen):
    """A key point merged from one or more points."""

    text: str
    merged_from: tuple[int, ...]
    """1-based indices of the request's points; each is in one merged point, or in several if it
    held several ideas."""


class MergeKeyPoints(StepRequest[tuple[MergedKeyPoint, ...]]):
    """Merge duplicate points: one atomic idea each; contradicting points become one that states
    both. All information is kept."""

    forms = (ReplyMergedPoints,)

    question: str
    points: tuple[str, ...]
    prompt: str = "key_points/merge"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[MergedKeyPoint, ...]]:
        """Merge the points of all documents; an answer that loses a point, or names an unknown
        one, is unusable."""

        def read(reply: ReplyMergedPoints) -> tuple[MergedKeyPoint, ...]:
            return tuple(
                MergedKeyPoint(
                    text=collapse_whitespace(stated.point),
                    merged_from=tuple(sorted({*stated.merged_from})),
                )
                for stated in reply.points
            )

        points = [collapse_whitespace(point) for point in self.points]
        return await model.answer_step(self, ReplyMergedPoints, read, self._check, points=points)

    def _check(self, reply: ReplyMergedPoints) -> None:
        n_points = len(self.points)
        named = {number for point in reply.points for number in point.merged_from}
        asked = set(range(1, n_points + 1))
        if wrong := sorted(named - asked):
            raise InvalidReply(f"merged_from: {wrong[0]} is none of 1 to {n_points}")
        if lost := sorted(asked - named):
            raise InvalidReply(f"merged_from: {lost[0]} is in no point ({len(lost)} of {n_points})")
        if any(not point.merged_from or not point.point.strip() for point in reply.points):
            raise InvalidReply("points: one has no text, or is merged from nothing")
