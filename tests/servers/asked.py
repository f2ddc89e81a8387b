"""What a model is asked, in one form for both wire formats."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

FILE_TOKENS = 1_000
"""What every file counts as: providers count by pages and pixels."""


@dataclass(frozen=True, slots=True)
class File:
    """A file inside a question."""

    media_type: str
    sha: str
    n_bytes: int


@dataclass
class Asked:
    """One question as it arrived."""

    model: str
    system: str
    turns: tuple[tuple[str, str], ...]
    """(`user` or `model`, text)."""
    schema: dict[str, Any] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    """Temperature, seed and the like: another setting is another question."""
    max_output_tokens: int | None = None
    files: tuple[File, ...] = ()

    @property
    def user(self) -> str:
        """The first user turn. A repair turn adds others; the question stays this one."""
        return next((text for role, text in self.turns if role == "user"), "")

    @cached_property
    def prompt_id(self) -> str:
        """Hash of the first user turn: what faults are chosen by."""
        return prompt_id(self.user)

    @cached_property
    def question_id(self) -> str:
        """Hash of all that makes it the same purchase, live or in a batch."""
        settings = json.dumps(self.settings, sort_keys=True)
        turns = (f"{role}\0{text}" for role, text in self.turns)
        files = (f"{file.media_type}\0{file.sha}" for file in self.files)
        return _sha("\0".join((self.model, settings, *turns, *files)))

    @cached_property
    def text(self) -> bytes:
        """All that the model reads."""
        parts = (self.system, *(text for _, text in self.turns))
        return "\n".join(parts).encode("utf-8", "surrogatepass")


class Model(Protocol):
    """What answers: the same text for the same question."""

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        """The model's text."""


def tokens(text: str | bytes) -> int:
    """A plausible count: four bytes each."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return max(1, len(data) // 4) if data else 0


def prompt_id(user: str) -> str:
    """By what a prompt is known in logs and fault plans."""
    return _sha(user)


def _sha(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
