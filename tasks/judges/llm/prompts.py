"""Prompts: strict templates in `configs/prompts/<protocol>/<step>.md` with fenced untrusted texts.

Each untrusted text stands between two lines with a code. The code is a hash of the text itself, so
its author cannot include it: such a text would be a fixed point of SHA-256. As equal texts get
equal codes, equal questions are equal requests (the ledger finds them) and prompts share their
beginnings byte for byte (providers cache them); random codes would prevent both.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from tasks.configuration.bounded_yaml import load_yaml
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import ConfigModel, read_text, validate_config
from tasks.configuration.templates import StrictTemplate
from tasks.warehouse.rows import content_sha

CODE_LENGTH = 16
"""Hex digits of a fence's code: 64 bits."""
_FILE = re.compile(
    r"---\n(?P<head>.*?)\n---\n# System\n(?P<system>.*?)\n# User\n(?P<user>.*)", re.S
)


class PromptSettings(ConfigModel):
    """The head of a prompt file: maximum and typical lengths of answers, in tokens."""

    max_output_tokens: PositiveInt
    max_output_tokens_per_item: NonNegativeInt
    """Added for each item of the request."""
    typical_output_tokens_per_item: PositiveInt
    """For estimates, as long as the ledger has no calls."""
    typical_output_per_prompt_token: NonNegativeFloat = 0
    """Added if the length of answers depends on the prompt's."""


class Prompt:
    """The prompt of a step: a system text, and a template for the user message."""

    def __init__(self, path: Path) -> None:
        text = read_text(path)
        found = _FILE.fullmatch(text)
        if not found:
            raise ConfigurationError(
                f"{path}: expected a YAML head between `---` lines, then `# System` and `# User`."
            )
        self.sha = content_sha(text)
        self.settings = validate_config(path, load_yaml(path, f"\n{found['head']}"), PromptSettings)
        self.system = found["system"].strip()
        self._template = StrictTemplate(path, found["user"], frozenset({"fence"}))

    def render(self, **values: Any) -> str:
        """Render the user message.

        Raises:
            ConfigurationError: the template uses an unknown variable.
        """
        return self._template.render(
            {"fence": _Fences("\n".join(_iterate_texts(values)))}, **values
        )


@lru_cache
def load_prompt(protocol: str, step: str, configs: ConfigSource = CONFIGS) -> Prompt:
    """Load the prompt of a step.

    Raises:
        ConfigurationError: the file is missing or malformed.
    """
    return Prompt(find_file(f"prompts/{protocol}/{step}.md", configs))


def find_fence_end(text: str, name: str) -> int:
    """Return where the first fenced text `name` ends in a rendered prompt; 0 if there is none."""
    found = re.search(rf"^<<<END {re.escape(name)} [0-9a-f]+>>>$", text, re.M)
    return found.end() if found else 0


class _Fences:
    """The function `fence(name, text)` of the templates."""

    def __init__(self, everything: str) -> None:
        self._everything = everything

    def __call__(self, name: str, text: str) -> str:
        code = self._code(text)
        return f"<<<BEGIN {name} {code}>>>\n{text}\n<<<END {name} {code}>>>"

    def _code(self, text: str) -> str:
        """Return the text's code; another one while any text of the prompt contains it."""
        salt = 0
        while True:
            seed = f"{salt}\n{text}".encode("utf-8", "surrogatepass")
            code = sha256(seed).hexdigest()[:CODE_LENGTH]
            if code not in self._everything:
                return code
            salt += 1


def _iterate_texts(value: object) -> Iterator[str]:
    """Yield every text in the values of a template."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _iterate_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _iterate_texts(item)
