"""Verifying claims against all pages that they cite, joined to one text, by a model."""

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.forms.support import SupportVerdicts
from tasks.judges.llm.page import verify_statements
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.research import VerifySupport


async def verify_support(model: PromptedModel, request: VerifySupport) -> list[JudgeAnswer]:
    """Answer for each claim; joined pages that are too long are cut to an excerpt."""
    return await verify_statements(
        model, request.prompt, request.claims, request.joined_pages, SupportVerdicts
    )
