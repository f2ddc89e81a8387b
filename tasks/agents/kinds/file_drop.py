"""A folder into which a person puts the reports; nobody is called."""

from typing import Literal

from tasks.agents.kind import AgentKind, Ask


class FileDropAsk(Ask):
    kind: Literal["file_drop"]
    """A folder into which a person puts the reports."""
    folder: str
    """The folder, relative to the working directory."""


KIND = AgentKind(FileDropAsk, client=None, read=None)
