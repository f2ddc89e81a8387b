"""Prompts: strict templates in `configs/prompts/<protocol>/<step>.md` with fenced untrusted texts;
and how prompts introduce articles and reports that are sent as files.

Each untrusted text stands between two lines with a code. The code is a hash of the text itself, so
its author cannot include it: such a text would be a fixed point of SHA-256. As equal texts get
equal codes, equal questions are equal requests (the ledger finds them) and prompts share their
beginnings byte for byte (providers cache them); random codes would prevent both.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from tasks.configuration.bounded_yaml import load_yaml
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import ConfigModel, read_text, validate_config
from tasks.configuration.templates import StrictTemplate
from tasks.models.attachments import MAX_ATTACHMENT_BYTES, Attachment, attachment_name
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
    if not name:
        return 0
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


MEGABYTE = 1_000_000
ARTICLE, REPORT = "article", "report"
"""The kinds of attached texts, also the names of their wordings."""
PICTURES_WORDING = "pictures"
"""The wording for pictures that go along with a text."""
WORDINGS = {"wiki_writing": ARTICLE}
"""Wordings by folder of prompts; the default is REPORT."""
_PICTURE_NAME = re.compile(r"image-[0-9]{1,4}\.[a-z0-9]{1,5}", re.A)
_WORDING_FILE = re.compile(
    r"# System\n(?P<system>.*?)\n# (?:Article|Report|Pictures)\n(?P<instead>.*)", re.S
)


class FileInfo(Protocol):
    """The properties that decide whether a file can be attached."""

    @property
    def media_type(self) -> str: ...
    @property
    def n_bytes(self) -> int: ...


@dataclass(frozen=True)
class AttachedFiles:
    """Files of a request, with the texts that introduce them."""

    files: tuple[Attachment, ...]
    system: str
    """Added to the prompt's system text."""
    placeholder: str
    """Replaces the text in the prompt; of pictures beside a text, names them."""
    sha: str
    """Sha of the wording."""


class AttachmentWording:
    """A file of `configs/attachments`: a text for the system prompt, and a placeholder template.

    It is separate from the prompts, so that requests without files keep their ids.
    """

    def __init__(self, path: Path) -> None:
        from tasks.configuration.templates import StrictTemplate  # loads Jinja

        text = read_text(path)
        found = _WORDING_FILE.fullmatch(text)
        if not found:
            raise ConfigurationError(
                f"{path}: expected `# System`, then `# Article`, `# Report` or `# Pictures`."
            )
        self.sha = content_sha(text)
        self.system = found["system"].strip()
        self._template = StrictTemplate(path, found["instead"])

    def describe(self, files: tuple[Attachment, ...]) -> AttachedFiles:
        """Return the files with the text that introduces them.

        Raises:
            ConfigurationError: the template uses a variable other than `files`.
        """
        named = [
            f"{attachment_name(n, file)} ({_describe_file(file)})"
            for n, file in enumerate(files, start=1)
        ]
        return AttachedFiles(files, self.system, self._template.render(files=named), self.sha)


def choose_wording(prompts: str) -> str:
    """Return the wording for a folder of prompts: ARTICLE or REPORT."""
    return WORDINGS.get(prompts, REPORT)


@lru_cache
def load_wording(name: str, configs: ConfigSource = CONFIGS) -> AttachmentWording:
    """Load the wording that introduces attached files.

    Raises:
        ConfigurationError: the file is missing or malformed.
    """
    return AttachmentWording(find_file(f"attachments/{name}.md", configs))


def find_attachment_problem(
    judge: str, reads: frozenset[str], files: Sequence[FileInfo]
) -> str | None:
    """Return why a judge cannot read these files; None if it can.

    reads: the media types it reads.
    """
    if not files:
        return "no PDF and no picture of it is kept; import it again"
    unseen = sorted({file.media_type for file in files} - reads)
    if unseen and not reads:
        return f"the judge {judge} reads text only"
    if unseen:
        return f"the judge {judge} does not read {', '.join(unseen)}"
    size = sum(file.n_bytes for file in files)
    if size > MAX_ATTACHMENT_BYTES:
        return (
            f"it has {size / MEGABYTE:,.1f} MB, and at most "
            f"{MAX_ATTACHMENT_BYTES / MEGABYTE:,.1f} MB can be shown to a "
            "judge; import it in a smaller resolution"
        )
    return None


def _describe_file(file: Attachment) -> str:
    if file.name and _PICTURE_NAME.fullmatch(file.name):
        return f"{file.media_type}, {file.name} in the text"
    return f"{file.media_type}, {file.n_pages} pages" if file.n_pages else file.media_type
