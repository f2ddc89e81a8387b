"""The source of an index, an edition or a corpus, and the index built from it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from tasks.base import Frozen
from tasks.configuration.inversion import InversionSettings
from tasks.configuration.sandbox import SandboxSettings
from tasks.configuration.web import ReadingBounds
from tasks.sandbox.bans import Ban, CopyDetector
from tasks.sandbox.corpus import corpus_name, read_corpus
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.index import BuildResult, IndexBuilder, OnProgress
from tasks.sandbox.lance import MODEL
from tasks.sandbox.page import ServedPage, iterate_async
from tasks.sandbox.snapshot import (
    count_pages,
    read_articles,
    read_assignments,
    read_ban,
    read_pages,
)
from tasks.warehouse.location import LocationLike, parse_location
from tasks.warehouse.rows import content_sha

VERSION = "2"
"""Increase it when pages are split or marked differently: other versions' indexes are ignored."""


class PageSource(Frozen):
    """The source of the pages, and the edition whose bans hold for them."""

    edition: str | None = None
    snapshot: Path | None = None
    """The edition's exported snapshot."""
    corpus: Path | None = None
    """JSONL and WARC files; None for the edition's own pages."""

    @property
    def name(self) -> str:
        corpus = corpus_name(self.corpus) if self.corpus else None
        return "+".join(name for name in (self.edition, corpus) if name)

    def read_ban(self) -> Ban | None:
        """Return what the edition's assignments ban; None, which bans nothing, for no edition."""
        return read_ban(self.snapshot) if self.snapshot else None

    def read_assignments(self) -> frozenset[str]:
        """Return the names of the edition's assignments."""
        return read_assignments(self.snapshot) if self.snapshot else frozenset()

    def read_articles(self) -> dict[str, str]:
        return read_articles(self.snapshot) if self.snapshot else {}

    def read_pages(
        self,
        bounds: ReadingBounds,
        on_skipped: Callable[[str], None],
        on_bad_date: Callable[[str], None],
    ) -> AsyncIterator[ServedPage]:
        if self.corpus:
            return read_corpus(self.corpus, bounds, on_skipped, on_bad_date)
        assert self.snapshot is not None
        return iterate_async(read_pages(self.snapshot))

    def count_pages(self) -> int | None:
        """Return about how many pages there are; None if that requires reading all of them."""
        return count_pages(self.snapshot) if self.snapshot and not self.corpus else None


def sandbox_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's indexes: `sandbox/<its name>` next to it."""
    return parse_location(warehouse).subfolder("sandbox")


async def build_index(
    source: PageSource,
    parent: Path,
    settings: SandboxSettings,
    inversion: InversionSettings,
    bounds: ReadingBounds,
    *,
    on_progress: OnProgress = lambda step, n_pages: None,
    on_skipped: Callable[[str], None] = lambda _: None,
    on_bad_date: Callable[[str], None] = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
) -> tuple[Path, BuildResult]:
    """Build or update the index of a source; return its folder in `parent` and the result.

    on_skipped: receives every page that cannot be served. on_bad_date: receives every unreadable
    date. on_wait: called before waiting for another process that builds the same index.

    Raises:
        SandboxError: the pages cannot be read, there are none, or the index cannot be written.
        ConfigurationError: an extra is not installed.
    """
    copies = CopyDetector(
        source.read_articles(), inversion.mirror_ngram_words, inversion.mirror_share
    )
    name = source.name.replace("/", "_")
    folder = parent / f"{name}-{_hash_settings(settings, inversion, copies)}"
    builder = IndexBuilder(
        folder, settings, copies, inversion.mirror_hosts, on_progress, on_skipped
    )
    result = await builder.build(source.read_pages(bounds, on_skipped, on_bad_date), on_wait)
    if not result.version.n_pages:
        raise SandboxError(_describe_empty(source))
    return folder, result


def _describe_empty(source: PageSource) -> str:
    if source.corpus:
        return (
            f"{source.corpus}: no page can be served. Expected lines with `url` and `text` "
            "(JSONL), or responses with status 200 and texts (WARC); see the messages above."
        )
    return (
        f"{source.edition} has no page that can be served. Fetch the pages that its reports cite "
        f"(`evergreen fetch --edition {source.edition}`), or name other pages with --corpus."
    )


def _hash_settings(
    settings: SandboxSettings, inversion: InversionSettings, copies: CopyDetector
) -> str:
    """Hash everything that determines the contents of an index."""
    vectors = [MODEL, str(settings.approximate_from)] if settings.ranking != "bm25" else []
    hosts = sorted(inversion.mirror_hosts)
    return content_sha(VERSION, str(settings.passage_words), copies.sha, *hosts, *vectors)[:10]
