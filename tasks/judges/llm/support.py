"""Claims put to a model with all pages that they cite, one after another as one text."""

from tasks.judges.decisions import Answer
from tasks.judges.forms.support import SupportVerdicts
from tasks.judges.llm.page import held_against
from tasks.judges.llm.requests import Asking
from tasks.judges.research import VerifySupport


async def verified_support(asking: Asking, request: VerifySupport) -> list[Answer]:
    """One answer per claim; pages too long together are shown as an excerpt, as one page is."""
    return await held_against(
        asking, request.prompt, request.claims, request.together, SupportVerdicts
    )
