"""What is asked of a model and what it answers, the same for every provider."""

import json
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from tasks.base import Frozen
from tasks.models.attachments import Attachment, laid_out
from tasks.warehouse.rows import ForeignText, canonical_json, content_sha

Finish = Literal["ok", "truncated", "refused", "blocked", "empty"]


class Turn(Frozen):
    """One turn of the conversation after the system prompt."""

    role: Literal["user", "model"]
    text: str


class Parameters(Frozen):
    """How a model answers; what is None is not sent. Part of a request's address."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_output_tokens: int
    """With thinking, where the model thinks."""
    thinking_budget: int | None = None
    """Tokens; Gemini 2.5."""
    thinking_level: str | None = None
    """Gemini 3 and later: `minimal`, `low`, `medium`, `high`; OpenAI's reasoning effort."""

    def canonical(self) -> str:
        """JSON with sorted keys, without what is not set."""
        return canonical_json(self.model_dump(by_alias=True, exclude_none=True))


class Purpose(Frozen):
    """What a call is for: kept in the ledger, no part of a request's address."""

    judge: str
    protocol: str
    step: str
    prompt_sha: str
    n_items: int = 1
    """Items it decides."""


class ModelRequest(BaseModel):
    """One question to a model: the same content has the same `request_id`, whoever asks."""

    # Not `Frozen`: a cached property needs to be kept.
    model_config = ConfigDict(extra="forbid", ignored_types=(cached_property,))

    provider: str
    model: str
    parameters: Parameters
    reply_name: str
    reply_schema: str
    """JSON Schema of the answer, as JSON with sorted keys."""
    system: str
    turns: tuple[Turn, ...]
    attachments: tuple[Attachment, ...] = ()
    """Files that go before the first turn's text, as `laid_out` has them."""
    purpose: Purpose
    typical_output_tokens: int = 0
    """What an answer is expected to take, for estimates."""

    @cached_property
    def request_id(self) -> str:
        turns = [part for turn in self.turns for part in (turn.role, turn.text)]
        return content_sha(
            self.provider, self.model, self.parameters.canonical(), self.reply_schema,
            self.system, *turns, *self._attached,
        )  # fmt: skip

    @property
    def _attached(self) -> list[str]:
        """The files as part of the address; nothing where there are none, so that questions
        without files keep the addresses under which their answers were bought."""
        files = [("attachment", each.media_type, each.sha) for each in self.attachments]
        return [part for parts in files for part in parts]

    @property
    def prompt(self) -> str:
        """What is sent after the system prompt, as one text for the ledger; where a file stands,
        its media type, bytes and sha."""
        files = "".join(
            piece if isinstance(piece, str) else f"[{piece.described}]"
            for piece in laid_out(self.attachments)
        )
        if len(self.turns) == 1:
            return files + self.turns[0].text
        return files + "\n\n".join(f"[{turn.role}]\n{turn.text}" for turn in self.turns)

    @cached_property
    def prompt_bytes(self) -> int:
        """As long as everything that is sent is to a model, which reads at most so many tokens:
        bytes of the texts, and of the files what they count as (`BYTES_OF_A_PAGE`)."""
        return self.text_bytes + sum(each.counts_as_bytes for each in self.attachments)

    @cached_property
    def text_bytes(self) -> int:
        """Bytes of everything that is sent as text."""
        texts = (self.system, self.reply_schema, *(turn.text for turn in self.turns))
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)

    def repaired(self, answer: str, problem: str) -> "ModelRequest":
        """The same question again, after an answer that could not be used."""
        again = (
            f"This answer cannot be used: {problem}. Answer the question above again, whole, in "
            "JSON of the given form and with nothing around it."
        )
        turns = (*self.turns, Turn(role="model", text=answer), Turn(role="user", text=again))
        return self.model_copy(update={"turns": turns})


@lru_cache
def parsed_schema(text: str) -> dict[str, Any]:
    """A reply schema as the clients send it."""
    schema: dict[str, Any] = json.loads(text)
    return schema


def call_id(request_id: str, attempt: int) -> str:
    """The ledger's key for the `attempt`-th answer (1-based) to a request."""
    return content_sha(request_id, str(attempt))


def _counted(value: object) -> object:
    """A count as the warehouse can hold it; anything else says nothing."""
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


Count = Annotated[int | None, BeforeValidator(_counted)]


class Usage(Frozen):
    """Tokens as the provider counts them; None where it does not say."""

    prompt: Count = None
    """With the cached ones."""
    cached: Count = None
    output: Count = None
    """Without thinking."""
    thinking: Count = None


class Reply(Frozen):
    """One answer of a model, whole or not, before anybody has read what it says."""

    finish: Finish
    text: ForeignText = ""
    stop_reason: ForeignText | None = None
    """The provider's own word for why it ended."""
    usage: Usage = Usage()
    model_version: ForeignText | None = None
    response_id: ForeignText | None = None
    raw: ForeignText | None = None
    """The body, kept where `finish` is not `ok`."""
    delivery: str = "live"
    latency_seconds: float | None = None
    tries: int = 1
