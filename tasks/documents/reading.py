"""Report files in any format, read into Markdown by the ending of their name.

What is foreign and tangled (HTML, DOCX, PDF, pictures) is read in a process of its own with
bounds of time and memory: what goes wrong there is a sentence, never an end of the import.
"""

from importlib import import_module
from pathlib import PurePath

from tasks.documents.document import (
    MAX_CHARACTERS,
    MAX_FILE_BYTES,
    Document,
    UnreadableDocument,
)
from tasks.documents.kinds import found_kind, said_kind
from tasks.processes.bounded import Exceeded, run_bounded
from tasks.warehouse.rows import storable

MAX_SECONDS = 180.0
"""For one file. A page of a PDF takes about 0.2 s, so 200 pages take 40; a busy machine more."""
MAX_MEGABYTES = 2_000
"""Address space of the process that reads one file."""

READERS = {"text": "plain", "html": "html", "docx": "docx", "pdf": "pdf", "picture": "picture"}
"""Kind to the file here that reads it; each has `read` and is imported when it is needed."""
AT_ONCE = frozenset({"text"})
"""Kinds in which nothing can be hidden: read in this process."""

SHOWN_BY_CONTENT = frozenset({"docx", "pdf", "picture"})
"""Kinds whose first bytes say so."""
CALLED = {"html": "HTML", "docx": "an Office file or ZIP", "pdf": "a PDF", "picture": "a picture"}


def read_document(
    name: str, content: bytes, seconds: float = MAX_SECONDS, megabytes: int = MAX_MEGABYTES
) -> Document:
    """Read a report's file.

    Args:
        name: The file's name; its ending says what it is, and its first bytes must agree.
        seconds: At most for this file, of the clock and of computing.
        megabytes: At most for the process that reads it.

    Raises:
        UnreadableDocument: says why, and what to do.
    """
    kind = said_kind(name)
    _refuse_by_size(content)
    found = found_kind(content)
    if found != kind and (found is not None or kind in SHOWN_BY_CONTENT):
        raise UnreadableDocument(
            f"its name ends in {PurePath(name).suffix}, but its content is "
            f"{CALLED[found] if found else 'not'}. Give it the right ending, or export it afresh."
        )
    try:
        document = (
            read(kind, content)
            if kind in AT_ONCE
            else run_bounded(read, kind, content, seconds=seconds, megabytes=megabytes)
        )
    except Exceeded as error:
        raise UnreadableDocument(
            f"{error}; a report does not need that much. Export it afresh, or as Markdown."
        ) from error
    if document.textless and not document.scanned:
        said = "; ".join(document.page_remarks) or "it holds no text and no pictures"
        raise UnreadableDocument(f"{said}. Export it afresh.")
    if len(document.markdown) > MAX_CHARACTERS:
        raise UnreadableDocument(
            f"its text holds {len(document.markdown):,} characters; at most {MAX_CHARACTERS:,} "
            "are read. Is it a report?"
        )
    return document.model_copy(update={"markdown": storable(document.markdown)})


def read(kind: str, content: bytes) -> Document:
    """Read a file of a kind in this process, however long it takes.

    Raises:
        UnreadableDocument: also for whatever its library trips over.
    """
    try:
        document: Document = import_module(f"tasks.documents.{READERS[kind]}").read(content)
    except (UnreadableDocument, MemoryError):
        raise
    except RecursionError:
        raise UnreadableDocument(
            "its parts lie too deep within each other to be read. Export it afresh, or as Markdown."
        ) from None
    except Exception as error:  # foreign input: every library has errors of its own
        said = " ".join(str(error).split())[:200]
        raise UnreadableDocument(
            f"it is damaged, or not what its name says ({type(error).__name__}"
            f"{': ' if said else ''}{said}). Export it afresh."
        ) from None
    return document


def _refuse_by_size(content: bytes) -> None:
    if not content:
        raise UnreadableDocument("it is empty (0 bytes). Export it afresh.")
    if len(content) > MAX_FILE_BYTES:
        raise UnreadableDocument(
            f"it has {len(content):,} bytes; at most {MAX_FILE_BYTES:,} are read. Make its "
            "pictures smaller, or export it as Markdown."
        )
