"""A protocol as another package brings it: one metric and one judged question of its own."""

from typing import ClassVar, Literal

import polars as pl

from evergreen import Case, DecisionRequest, Judge, JudgeAnswer, Protocol
from tasks.configuration.models import ProtocolEntry
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.questions.registry import declare_prompts
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.protocols.case import ItemAnswer, JudgedReports, name_answers
from tasks.protocols.declarations import build_version
from tasks.protocols.figures import build_share


class ToneVerdict(ReplyModel):
    reason: str
    sentence: int
    tone: Literal["neutral", "partial"]


class HearTone(DecisionRequest):
    """Is each sentence neutral? Labels: `neutral`, `partial`."""

    action: ClassVar[str] = "hear the tone of sentences"
    decided: ClassVar[str] = "sentences"
    forms = (ItemResults[ToneVerdict],)
    sentences: tuple[str, ...]
    prompt: str = "tone/hear"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        n, form = self.n_items, ItemResults[ToneVerdict]
        values = self.template_values()
        outcome = await model.ask_items(self.prompt, values, form, "sentence", range(1, n + 1))
        return make_answers(outcome, n, lambda said: ItemReading(said.tone, said.reason))


class Tone(Protocol):
    """How neutral is a report?"""

    name = "tone"
    prompts = declare_prompts("tone", HearTone)
    inputs = ("report", "claims")
    kinds = ("write_article",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.version = build_version(entry)

    def supports(self, judge: Judge) -> bool:
        return HearTone in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        answers = await judge.decide(HearTone(sentences=tuple(c.text for c in case.claims)))
        return name_answers("tone", (f"claim:{claim.number}" for claim in case.claims), answers)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        neutral = pl.col("label") == "neutral"
        return build_share("neutral_share", judged.select_step("tone"), neutral, judged, "no claim")
