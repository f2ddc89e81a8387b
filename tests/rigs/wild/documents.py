"""The Markdown of a report's file; that of other formats kept between runs."""

import hashlib
from pathlib import Path

import tasks.documents
from tasks.documents.reading import read_document

SUFFIXES = (".md", ".html", ".htm", ".docx", ".pdf")
CACHE = Path(__file__).resolve().parents[3] / "build" / "wild"


def read_markdown(path: Path) -> str:
    """What the product reads a file as.

    Raises:
        UnreadableDocument: it cannot be read.
    """
    content = path.read_bytes()
    if path.suffix.lower() == ".md":
        return read_document(path.name, content).markdown
    kept = CACHE / f"{hashlib.sha256(_reader_hash() + content).hexdigest()}.md"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_text(read_document(path.name, content).markdown, "utf-8")
    return kept.read_text("utf-8")


def _reader_hash() -> bytes:
    """Of the source of all readers, so that a change of one is seen."""
    folder = Path(tasks.documents.__file__).parent
    return b"".join(hashlib.sha256(p.read_bytes()).digest() for p in sorted(folder.glob("*.py")))
