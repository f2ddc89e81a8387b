"""Articles and reports sent as files: who can read them, and how prompts introduce them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import read_text
from tasks.models.attachments import MAX_ATTACHMENT_BYTES, Attachment, attachment_name
from tasks.warehouse.rows import content_sha

MEGABYTE = 1_000_000
ARTICLE, REPORT = "article", "report"
"""The kinds of attached texts, also the names of their wordings."""
PICTURES_WORDING = "pictures"
"""The wording for pictures that go along with a text."""
WORDINGS = {"wiki_writing": ARTICLE}
"""Wordings by folder of prompts; the default is REPORT."""
_PICTURE_NAME = re.compile(r"image-[0-9]{1,4}\.[a-z0-9]{1,5}", re.A)
_FILE = re.compile(
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
        found = _FILE.fullmatch(text)
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
