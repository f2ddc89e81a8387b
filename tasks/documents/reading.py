"""Read a report file of any format into Markdown, by its file name extension.

Complex formats (HTML, DOCX, PDF, pictures) are read in a separate process with limits of time and
memory: what goes wrong there becomes an error message and never ends the import.
"""

from importlib import import_module
from pathlib import PurePath

from tasks.documents.document import (
    MAX_CHARACTERS,
    MAX_FILE_BYTES,
    ParsedDocument,
    UnreadableDocument,
    detect_kind,
    parse_kind,
)
from tasks.processes.helper import LimitExceeded, run_bounded
from tasks.warehouse.rows import replace_surrogates

MAX_SECONDS = 180.0
"""For one file. A PDF page takes about 0.2 s, so 200 pages take 40 s, or more on a busy machine."""
MAX_MEGABYTES = 2_000
"""Address space of the process that reads a file."""

RECOGNISABLE = frozenset({"docx", "pdf", "picture"})
"""Kinds that can be recognised by their first bytes."""
KIND_NAMES = {
    "html": "HTML",
    "docx": "an Office file or ZIP",
    "pdf": "a PDF",
    "picture": "a picture",
}


def read_document(
    name: str, content: bytes, seconds: float = MAX_SECONDS, megabytes: int = MAX_MEGABYTES
) -> ParsedDocument:
    """Read a report's file.

    Args:
        name: The file's name; its extension tells the kind, and its first bytes must agree.
        seconds: Limit for this file, of both wall-clock and CPU time.
        megabytes: Limit for the process that reads it.

    Raises:
        UnreadableDocument: the file cannot be read; says why and what to do.
    """
    kind = parse_kind(name)
    check_size(len(content))
    found = detect_kind(content)
    if found != kind and (found is not None or kind in RECOGNISABLE):
        raise UnreadableDocument(
            f"its name ends in {PurePath(name).suffix}, but its content is "
            f"{KIND_NAMES[found] if found else 'not'}. Give it the right ending, or export it "
            "afresh."
        )
    try:
        document = (
            read_by_kind(kind, content)
            if kind == "plain"  # simple enough for this process
            else run_bounded(
                read_by_kind,
                kind,
                content,
                seconds=seconds,
                megabytes=megabytes,
                raises=(UnreadableDocument,),
            )
        )
    except LimitExceeded as error:
        raise UnreadableDocument(
            f"reading it {error}; a report does not need that much. Export it afresh, or as "
            "Markdown."
        ) from error
    if document.textless and not document.scanned:
        message = "; ".join(document.page_remarks) or "it holds no text and no pictures"
        raise UnreadableDocument(f"{message}. Export it afresh.")
    if len(document.markdown) > MAX_CHARACTERS:
        raise UnreadableDocument(
            f"its text holds {len(document.markdown):,} characters; at most {MAX_CHARACTERS:,} "
            "are read. Is it a report?"
        )
    return document.model_copy(update={"markdown": replace_surrogates(document.markdown)})


def read_by_kind(kind: str, content: bytes) -> ParsedDocument:
    """Read a file of a kind in this process, however long it takes.

    Raises:
        UnreadableDocument: for any error of the library that reads it, too.
    """
    try:
        document: ParsedDocument = import_module(f"tasks.documents.{kind}").read(content)
    except (UnreadableDocument, MemoryError):
        raise
    except ImportError as error:
        if "failed to map" in str(error):  # a library did not fit into the memory
            raise MemoryError(str(error)) from None
        raise
    except RecursionError:
        raise UnreadableDocument(
            "its parts lie too deep within each other to be read. Export it afresh, or as Markdown."
        ) from None
    except Exception as error:  # foreign input: every library has errors of its own
        if isinstance(error, ImportError) and "failed to map segment" in str(error):
            raise MemoryError from None  # the limit leaves no room for a library
        message = " ".join(str(error).split())[:200]
        raise UnreadableDocument(
            f"it is damaged, or not what its name says ({type(error).__name__}"
            f"{': ' if message else ''}{message}). Export it afresh."
        ) from None
    return document


def check_size(n_bytes: int) -> None:
    """Raise UnreadableDocument if a file of so many bytes is empty or too large."""
    if not n_bytes:
        raise UnreadableDocument("it is empty (0 bytes). Export it afresh.")
    if n_bytes > MAX_FILE_BYTES:
        raise UnreadableDocument(
            f"it has {n_bytes:,} bytes; at most {MAX_FILE_BYTES:,} are read. Make its pictures "
            "smaller, or export it as Markdown."
        )
