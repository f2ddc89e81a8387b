"""A question is one class in one place; no reply form is asked for that no prompt's sha knows."""

import asyncio
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.judges import questions
from tasks.judges.decisions import DecisionRequest, JudgeAnswer, PromptedRequest
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.questions.registry import (
    QUESTIONS,
    check_declared,
    declare_prompts,
    forms_sha,
    list_questions,
)
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.replies import ItemResults, ReplyModel
from tests.tasks.judges.llm.requests import CLAIMS
from tests.tasks.judges.recording import Recorder, recorded


class Tone(ReplyModel):
    item: int
    tone: str


class Mood(ReplyModel):
    item: int
    mood: str


class HearTone(DecisionRequest):
    action: ClassVar[str] = "hear a tone"
    decided: ClassVar[str] = "texts"
    forms = (ItemResults[Tone],)

    texts: tuple[str, ...]
    prompt: str = "tone/hear"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        outcome = await model.ask_items(
            self.prompt, {}, ItemResults[Tone], "item", range(1, self.n_items + 1)
        )
        return make_answers(outcome, self.n_items, lambda said: ItemReading(said.tone, "heard"))


@pytest.fixture(autouse=True)
def _undeclared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.judges.questions.registry.QUESTIONS", dict(QUESTIONS))


def test_every_question_is_registered() -> None:
    files = [
        import_module(f"{questions.__name__}.{m.name}") for m in iter_modules(questions.__path__)
    ]
    defined = {
        value
        for file in files
        for value in vars(file).values()
        if isinstance(value, type)
        and issubclass(value, PromptedRequest)
        and value.__module__ == file.__name__
        and "[" not in value.__name__
    }
    assert defined == list_questions()


def test_prompts_of_which_nobody_says_what_they_ask_have_no_sha() -> None:
    for sha_of in (forms_sha, recorded(Recorder()).prompt_sha):
        with pytest.raises(ConfigurationError, match="Nobody says which questions the prompts in"):
            sha_of("tone")


def test_a_judge_is_asked_nothing_whose_form_is_not_in_the_sha_of_its_prompts() -> None:
    recorder = Recorder()
    judge = recorded(recorder)
    for request in (HearTone(texts=("la",)), HearTone(texts=("la",), prompt="wiki_fact/hear"),
                    CLAIMS.model_copy(update={"prompt": "fact/verify_claims"})):  # fmt: skip
        with pytest.raises(ConfigurationError, match=r"declare_prompts"):
            asyncio.run(judge.decide(request))
    assert recorder.asked == []


def test_another_form_of_a_declared_question_is_another_sha(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert declare_prompts("tone", HearTone) == "tone"
    check_declared(HearTone(texts=("la",)))
    assert HearTone in recorded(Recorder()).decides
    before = forms_sha("tone")
    monkeypatch.setattr(HearTone, "forms", (ItemResults[Mood],))
    assert forms_sha("tone") != before


def test_prompts_are_declared_once() -> None:
    declare_prompts("wiki_fact", *QUESTIONS["wiki_fact"])
    with pytest.raises(ConfigurationError, match="declared twice"):
        declare_prompts("wiki_fact", VerifyClaims)
