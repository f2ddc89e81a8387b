"""Reply forms for extracting facts and claims."""

from tasks.judges.forms.form import ReplyModel


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
