"""Articles and reports that are shown to a model as files: who can see them, and how it is told."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.models.attachments import MOST_BYTES, Attachment, name_of
from tasks.warehouse.rows import content_sha

MEGABYTE = 1_000_000
ARTICLE, REPORT = "article", "report"
"""What is attached, and the name of the wording that says so."""
WORDINGS = {"wiki_writing": ARTICLE}
"""By prompts, where it is not a report that is judged by itself."""
_FILE = re.compile(r"# System\n(?P<system>.*?)\n# (?:Article|Report)\n(?P<instead>.*)", re.S)


class File(Protocol):
    """What must be known of a file to tell whether it can be shown."""

    @property
    def media_type(self) -> str: ...
    @property
    def n_bytes(self) -> int: ...


@dataclass(frozen=True)
class Attached:
    """Files that go with a question, and what is said of them beside it."""

    files: tuple[Attachment, ...]
    system: str
    """Added to the prompt's system text."""
    instead: str
    """Stands in the place of the text."""
    sha: str
    """Of the wording."""


class Wording:
    """A file of `configs/attachments`: a text for the system prompt, and a template for what
    stands in the place of an article or report that is attached. It is apart from the prompts,
    so that questions without files stay what they were."""

    def __init__(self, path: Path) -> None:
        from tasks.configuration.templates import StrictTemplate, read_text  # loads Jinja

        text = read_text(path)
        found = _FILE.fullmatch(text)
        if not found:
            raise ConfigurationError(
                f"{path}: expected `# System`, then `# Article` or `# Report`."
            )
        self.sha = content_sha(text)
        self.system = found["system"].strip()
        self._template = StrictTemplate(path, found["instead"])

    def attached(self, files: tuple[Attachment, ...]) -> Attached:
        """Files with what is said of them.

        Raises:
            ConfigurationError: the template names something else than `files`.
        """
        named = [f"{name_of(n, file)} ({_kind(file)})" for n, file in enumerate(files, start=1)]
        return Attached(files, self.system, self._template.render(files=named), self.sha)


def wording_of(prompts: str) -> str:
    """The wording that goes with a folder of prompts: ARTICLE or REPORT."""
    return WORDINGS.get(prompts, REPORT)


@lru_cache
def load_wording(name: str, configs: Path = CONFIGS) -> Wording:
    """How a model is told of what is attached.

    Raises:
        ConfigurationError: no such file, or it is of another form.
    """
    return Wording(configs / "attachments" / f"{name}.md")


def why_not_shown(judge: str, reads: frozenset[str], files: Sequence[File]) -> str | None:
    """Why a judge cannot be shown these files, in words; None: it can.

    reads: the media types it sees.
    """
    if not files:
        return "no PDF and no picture of it is kept; import it again"
    unseen = sorted({file.media_type for file in files} - reads)
    if unseen and not reads:
        return f"the judge {judge} reads text only"
    if unseen:
        return f"the judge {judge} does not read {', '.join(unseen)}"
    size = sum(file.n_bytes for file in files)
    if size > MOST_BYTES:
        return (
            f"it has {size / MEGABYTE:,.1f} MB, and at most {MOST_BYTES / MEGABYTE:,.1f} MB can be "
            "shown to a judge; import it in a smaller resolution"
        )
    return None


def _kind(file: Attachment) -> str:
    return f"{file.media_type}, {file.n_pages} pages" if file.n_pages else file.media_type
