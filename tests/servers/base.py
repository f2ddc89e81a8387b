"""What both model servers do alike: count, delay, break, and ask the model."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from tests.servers.asked import FILE_TOKENS, Asked, File, Model, tokens
from tests.servers.faults import (
    BROKEN,
    EMPTY_200,
    ENVELOPES,
    HTML_200,
    HTML_PAGE,
    STATUSES,
    TEXT_FAULTS,
    FaultPlan,
)
from tests.servers.http import HTML, Request, Response, json_response
from tests.servers.oracle import Oracle

NO_ANSWER = frozenset({EMPTY_200, HTML_200, "no_candidate"})
"""Faults with status 200 that bring no model's answer."""

Outcome = Literal["under way", "answered", "lost", "refused"]
"""`answered`: a model's answer went out whole, blocked and cut ones among them. `lost`: the
model had worked, but its answer did not arrive (a reset, or the client was gone): a real
provider may bill it. `refused`: a status of 400 and more, or no model's answer at all."""


@dataclass(slots=True)
class Entry:
    """One question that arrived."""

    prompt_id: str
    question_id: str
    model: str
    status: int
    fault: str | None
    delivery: Literal["live", "batch"]
    outcome: Outcome = "under way"
    files: tuple[File, ...] = ()


class RequestLog:
    """Every question since the server was made, in the order in which they came."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.in_flight = 0
        self.peak_in_flight = 0

    def begun(self, asked: Asked, status: int, fault: str | None) -> Entry:
        """A live question is worked on; `ended` must follow."""
        entry = self._entry(asked, status, fault, "live")
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        return entry

    def ended(self, entry: Entry, outcome: Outcome) -> None:
        self.in_flight -= 1
        entry.outcome = outcome

    def batched(self, asked: Asked, status: int, fault: str | None) -> None:
        """A question of a batch was answered, or failed."""
        entry = self._entry(asked, status, fault, "batch")
        entry.outcome = "answered" if status == 200 else "refused"

    def answered(self) -> Counter[str]:
        """Answers per question: a value above 1 was bought more than once."""
        return Counter(e.question_id for e in self.entries if e.outcome == "answered")

    @property
    def n_bought_again(self) -> int:
        """Answers beyond the first to the same question."""
        return sum(n - 1 for n in self.answered().values())

    def summary(self) -> dict[str, Any]:
        """Totals as JSON."""
        outcomes = Counter(entry.outcome for entry in self.entries)
        return {
            "requests": len(self.entries),
            "prompts": len({entry.prompt_id for entry in self.entries}),
            "questions": len({entry.question_id for entry in self.entries}),
            "answered": outcomes["answered"],
            "lost": outcomes["lost"],
            "refused": outcomes["refused"],
            "under_way": outcomes["under way"],
            "bought_again": self.n_bought_again,
            "peak_in_flight": self.peak_in_flight,
            "statuses": dict(Counter(str(entry.status) for entry in self.entries)),
            "faults": dict(Counter(entry.fault for entry in self.entries if entry.fault)),
        }

    def _entry(
        self, asked: Asked, status: int, fault: str | None, delivery: Literal["live", "batch"]
    ) -> Entry:
        entry = Entry(
            asked.prompt_id, asked.question_id, asked.model, status, fault, delivery,
            files=asked.files,
        )  # fmt: skip
        self.entries.append(entry)
        return entry


@dataclass(slots=True)
class Said:
    """What the model said to one question, before it has a wire form."""

    text: str
    cut: bool
    """It ran into the limit of output tokens."""
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    thinking_tokens: int
    version: str
    response_id: str


class ModelServer(ABC):
    """A fake endpoint; itself the handler that `serving` runs. Its state outlives a restart."""

    known_faults: frozenset[str]

    def __init__(
        self,
        *,
        model: Model | None = None,
        key: str | None = "test-key",
        delay_seconds: float = 0.0,
        faults: FaultPlan | None = None,
        models: Collection[str] | None = None,
        answers_as: str | None = None,
        thinking_tokens: int = 0,
    ) -> None:
        """Set up what does not change while it serves.

        Args:
            model: what answers; the oracle if not given.
            key: the only key that is taken; None takes any and none.
            delay_seconds: how long every answer takes.
            faults: what goes wrong; nothing if not given.
            models: names that exist; None: every name does.
            answers_as: the version it says it answered as; the model asked for if not given.
            thinking_tokens: spent on every answer, out of its limit.
        """
        self.log = RequestLog()
        self.model = model or Oracle()
        self.key = key
        self.delay_seconds = delay_seconds
        self.faults = faults or FaultPlan()
        self.models = models
        self.answers_as = answers_as
        self.thinking_tokens = thinking_tokens
        unknown = set(self.faults.faults) - self.known_faults
        if unknown:
            raise ValueError(f"{type(self).__name__} has no form of {', '.join(sorted(unknown))}")

    def __call__(self, request: Request) -> Response:
        if request.path == "/_log":
            return json_response(self.log.summary())
        try:
            return self.route(request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return self.error(400, f"Invalid request: {type(error).__name__}: {error}")

    @abstractmethod
    def route(self, request: Request) -> Response:
        """The answer to one request."""

    @abstractmethod
    def error(self, status: int, message: str, **more: Any) -> Response:
        """A refusal in the provider's form."""

    @abstractmethod
    def refusal(self, fault: str) -> Response:
        """The provider's form of one of the `STATUSES` faults."""

    @abstractmethod
    def body(self, asked: Asked, said: Said, fault: str | None) -> dict[str, Any]:
        """The provider's form of an answer."""

    def exists(self, model: str) -> bool:
        return self.models is None or model in self.models

    def live(self, asked: Asked) -> Response:
        """Answer one question now, or fail as planned; logged."""
        fault = self.faults.next(asked.prompt_id)
        response = self.reply(asked, fault)
        response.delay_seconds = self.delay_seconds
        if fault == "slow":
            response.delay_seconds += self.faults.slow_seconds
        if fault in BROKEN:
            response.broken = BROKEN[fault]
        entry = self.log.begun(asked, response.status, fault)
        worked = response.status == 200 and fault not in NO_ANSWER

        def ended(whole: bool) -> None:
            outcome: Outcome = "refused" if not worked else "answered" if whole else "lost"
            self.log.ended(entry, outcome)

        response.on_end = ended
        return response

    def in_batch(self, asked: Asked) -> tuple[int, dict[str, Any]]:
        """Status and body of one question of a batch; logged. What breaks a line is a 500."""
        fault = self.faults.next(asked.prompt_id)
        if fault in BROKEN or fault in NO_ANSWER or fault == "html_502":
            fault = "server_500"
        response = self.reply(asked, fault)
        self.log.batched(asked, response.status, fault)
        body: dict[str, Any] = json.loads(response.body)
        return response.status, body

    def reply(self, asked: Asked, fault: str | None) -> Response:
        if fault == EMPTY_200:
            return Response()
        if fault in (HTML_200, "html_502"):
            return Response(STATUSES.get(fault, 200), HTML_PAGE, HTML)
        if fault in STATUSES:
            return self.refusal(fault)
        envelope = ENVELOPES.get(fault or "", {})
        return json_response(self.body(asked, self.said(asked, fault), fault), **envelope)

    def said(self, asked: Asked, fault: str | None) -> Said:
        text = self.model.answer(asked.system, asked.user, asked.schema)
        if fault in TEXT_FAULTS:
            text = TEXT_FAULTS[fault](text)
        room = None
        if asked.max_output_tokens is not None:
            room = max(0, asked.max_output_tokens - self.thinking_tokens)
        cut = room is not None and tokens(text) > room
        if cut:
            text = text[: (room or 0) * 4]
        if fault == "max_tokens":
            text, cut = text[: len(text) // 2], True
        return Said(
            text=text,
            cut=cut,
            prompt_tokens=tokens(asked.text) + FILE_TOKENS * len(asked.files),
            cached_tokens=0,
            output_tokens=tokens(text),
            thinking_tokens=self.thinking_tokens,
            version=self._version(asked, fault),
            response_id=f"r{len(self.log.entries)}",
        )

    def _version(self, asked: Asked, fault: str | None) -> str:
        version = self.answers_as or asked.model
        return f"{version}-drifted" if fault == "other_version" else version
