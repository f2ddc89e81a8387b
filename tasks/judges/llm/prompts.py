"""Prompts: strict templates in `configs/prompts/<protocol>/<step>.md`, untrusted text fenced.

Each piece of untrusted text stands between two lines that carry a code. The code is made from
the text itself, so its author cannot know it: a text that holds its own code would be a fixed
point of SHA-256. And because the same text always gets the same code, the same question is the
same request (the ledger finds it again) and prompts share their beginnings byte for byte
(providers' caches find those again); a code drawn by lot would prevent both.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationError

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured
from tasks.configuration.templates import StrictTemplate, read_text
from tasks.warehouse.rows import content_sha

CODE_LENGTH = 16
"""Hex digits of a fence's code: 64 bits."""
_FILE = re.compile(
    r"---\n(?P<head>.*?)\n---\n# System\n(?P<system>.*?)\n# User\n(?P<user>.*)", re.S
)


class PromptSettings(Configured):
    """The head of a prompt's file: how long its answers may be and usually are, in tokens."""

    max_output_tokens: PositiveInt
    max_output_tokens_per_item: NonNegativeInt
    """Added for each item that is asked at once."""
    typical_output_tokens_per_item: PositiveInt
    """For estimates, until the ledger knows better."""
    typical_output_per_prompt_token: NonNegativeFloat = 0
    """Added to it, where an answer is as long as what is asked about."""


class Prompt:
    """One step's prompt: a system text, and a template for what follows it."""

    def __init__(self, path: Path) -> None:
        text = read_text(path)
        found = _FILE.fullmatch(text)
        if not found:
            raise ConfigurationError(
                f"{path}: expected a YAML head between `---` lines, then `# System` and `# User`."
            )
        self.sha = content_sha(text)
        self.settings = _settings(path, found["head"])
        self.system = found["system"].strip()
        self._template = StrictTemplate(path, found["user"], frozenset({"fence"}))

    def render(self, **values: Any) -> str:
        """The user's turn.

        Raises:
            ConfigurationError: the template names something else than what it is given.
        """
        return self._template.render({"fence": _Fences("\n".join(_texts(values)))}, **values)


@lru_cache
def load_prompt(protocol: str, step: str, configs: Path = CONFIGS) -> Prompt:
    """The prompt of one step.

    Raises:
        ConfigurationError: no such file, or it is not a prompt.
    """
    return Prompt(configs / "prompts" / protocol / f"{step}.md")


class _Fences:
    """`fence(name, text)` inside a template."""

    def __init__(self, everything: str) -> None:
        self._everything = everything

    def __call__(self, name: str, text: str) -> str:
        code = self._code(text)
        return f"<<<BEGIN {name} {code}>>>\n{text}\n<<<END {name} {code}>>>"

    def _code(self, text: str) -> str:
        """Of the text; another one while any text of the prompt holds it."""
        salt = 0
        while True:
            seed = f"{salt}\n{text}".encode("utf-8", "surrogatepass")
            code = sha256(seed).hexdigest()[:CODE_LENGTH]
            if code not in self._everything:
                return code
            salt += 1


def _texts(value: object) -> Iterator[str]:
    """Every text inside the values of a template."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _settings(path: Path, head: str) -> PromptSettings:
    try:
        return PromptSettings.model_validate(yaml.safe_load(head))
    except (yaml.YAMLError, ValidationError) as error:
        raise ConfigurationError(f"{path}: its head is wrong: {error}") from None
