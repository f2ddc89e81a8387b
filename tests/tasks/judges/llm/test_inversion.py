"""Problem inversion by a model: fenced prompts, strict answers, over real sockets."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tasks.configuration.folders import PACKAGED
from tasks.judges.decisions import StepAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.answer_question import AnswerClosedBook, AnswerFromPage
from tasks.judges.questions.estimate_difficulty import EstimateDifficulty
from tasks.judges.questions.find_others import FindOthers
from tasks.judges.questions.find_targets import FindTargets
from tasks.judges.questions.pose_question import PoseQuestion
from tasks.judges.replies import MAX_CHARS, MAX_ITEMS
from tasks.judges.text import occurs_in
from tasks.models.exchange import ModelRequest
from tasks.models.gateway import InvalidReply, RequestOutcome
from tasks.warehouse.rows import Status
from tests.servers.fences import parse
from tests.servers.gemini import GeminiServer
from tests.servers.obedient import Obedient
from tests.servers.openai import OpenAiServer
from tests.tasks.inversion.scripted import BRIDGES, QUESTION, TITLE
from tests.tasks.judges.recording import Recorder, at_server, entry
from tests.tasks.judges.test_injection import ATTACKS, SAY, Attack

ResultT = TypeVar("ResultT")
Work = Callable[[LlmJudge], Awaitable[StepAnswer[Any]]]


def steps(text: str) -> dict[str, Work]:
    """Every step, with one untrusted text in all its places."""
    return {
        "find_targets": lambda i: i.answer(
            FindTargets(title=text, text=text, n_targets=2, n_properties=3)
        ),
        "pose_question": lambda i: i.answer(
            PoseQuestion(kind=text, properties=(text,), asked_of_it=(text,), unnamed=(text,),
                         previous=text, problem=text)
        ),
        "find_others": lambda i: i.answer(FindOthers(question=text, answer=text)),
        "answer_closed_book": lambda i: i.answer(
            AnswerClosedBook(question=text, asked_of_it=(text,))
        ),
        "answer_from_page": lambda i: i.answer(
            AnswerFromPage(question=text, asked_of_it=(text,), page=text)
        ),
        "estimate_difficulty": lambda i: i.answer(
            EstimateDifficulty(question=text, answer=text, properties=(text,), asked_of_it=(text,))
        ),
    }  # fmt: skip


STEPS = tuple(steps(""))


def asked(work: Work) -> ModelRequest:
    recorder = Recorder()
    asyncio.run(work(LlmJudge("a_judge", entry(), recorder)))  # type: ignore[arg-type]
    (request,) = recorder.asked
    return request


def test_there_is_a_step_for_every_prompt() -> None:
    files = {path.stem for path in (PACKAGED / "prompts" / "inversion").glob("*.md")}
    assert files == set(STEPS)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))
def test_no_text_can_leave_its_block(step: str, attack: Attack) -> None:
    text = attack("source_article", SAY)
    request = asked(steps(text)[step])
    parsed = parse(request.prompt)
    assert text in [block.text for block in parsed.blocks]
    assert not Obedient.is_told(request.prompt)
    assert attack("source_article", SAY).splitlines()[-1] not in parsed.outside


class Answering:
    """An asker whose model always says the same."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer if isinstance(answer, str) else json.dumps(answer)

    async def ask(self, request: ModelRequest, read: Callable[[str], Any]) -> RequestOutcome[Any]:
        try:
            return RequestOutcome(Status.OK, read(self._answer))
        except InvalidReply as error:
            return RequestOutcome(Status.UNPARSABLE, reason=str(error))


def said(step: str, answer: Any) -> StepAnswer[Any]:
    return asyncio.run(steps("x")[step](LlmJudge("a_judge", entry(), Answering(answer))))  # type: ignore[arg-type]


def read(step: str, answer: Any) -> Any:
    """The value of an answer that can be used."""
    found = said(step, answer)
    assert found.status is Status.OK, found.reason
    return found.value


PROPERTY = {"text": "a", "sentence": "b"}
TARGET: dict[str, Any] = {
    "answer": "A", "also": ["B"], "sentence": "s", "kind": "k", "category": "entities",
    "properties": [PROPERTY], "sub_claims": [{"name": "n", "value": "v", "sentence": "s"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        ("find_targets", {"targets": [TARGET | {"category": "people"}]}),
        ("find_targets", {"targets": [{k: v for k, v in TARGET.items() if k != "category"}]}),
        ("find_targets", {"facts": []}),
        ("pose_question", {"question": None}),
        ("find_others", {"others": [{"value": "A"}]}),
        ("answer_closed_book", {"answers": ["A"]}),
        ("estimate_difficulty", {"queries": [], "units": [], "minutes": 0}),
        ("estimate_difficulty", {"queries": [], "units": [], "minutes": -5}),
        ("estimate_difficulty", '{"queries": [], "units": [], "minutes": NaN}'),
        ("estimate_difficulty", '{"queries": [], "units": [], "minutes": 1e999}'),
        ("pose_question", "I cannot help with that."),
    ],
)
def test_an_answer_of_another_form_cannot_be_used(step: str, answer: Any) -> None:
    found = said(step, answer)
    assert (found.status, found.value) == (Status.UNPARSABLE, None)
    assert found.reason


def test_what_is_named_beyond_what_was_asked_for_is_not_read() -> None:
    assert len(read("find_targets", {"targets": [TARGET] * 9})) == 2
    many = [{"value": str(n), "reason": ""} for n in range(999)]
    assert len(read("find_others", {"others": many})) == MAX_ITEMS


def test_texts_become_one_line_each() -> None:
    odd = "a\n b\t" + "c" * MAX_CHARS
    (target,) = read("find_targets", {"targets": [TARGET | {"answer": odd}]})
    assert target.answer.startswith("a b ccc")
    assert len(target.answer) == MAX_CHARS


def test_half_a_character_cannot_be_used() -> None:
    found = said("pose_question", '{"question": "a\\ud800"}')
    assert (found.status, found.value) == (Status.UNPARSABLE, None)


def test_empty_answers_are_none() -> None:
    empty = [{"answer": " ", "sub_claims": []}]
    assert read("answer_closed_book", {"answers": empty}) == ()
    subs = [{"name": "n", "value": ""}, {"name": "m", "value": "1"}]
    (answer,) = read("answer_from_page", {"answers": [{"answer": "A", "sub_claims": subs}]})
    assert answer.sub_claims == (("m", "1"),)


def test_a_repeated_query_counts_once() -> None:
    reply = {"queries": ["a", " a ", "", "b"], "units": ["u"], "minutes": 11}
    assert read("estimate_difficulty", reply).queries == ("a", "b")


@pytest.mark.parametrize("server", [GeminiServer, OpenAiServer])
def test_every_step_is_answered_over_the_wire(server: Any) -> None:
    async def work(judge: Any) -> list[StepAnswer[Any]]:
        inverter = LlmJudge("a_judge", judge.entry, judge._sender)
        found = await inverter.answer(
            FindTargets(title=TITLE, text=BRIDGES, n_targets=2, n_properties=3)
        )
        others = [await step(inverter) for step in steps(QUESTION).values()]
        return [found, *others]

    answers = at_server(server(), work)
    assert [answer.status for answer in answers] == [Status.OK] * len(answers)
    assert all(answer.call_id and answer.model_version for answer in answers)
    targets = answers[0].value
    assert targets
    assert all(occurs_in(p.sentence, BRIDGES) for target in targets for p in target.properties)
