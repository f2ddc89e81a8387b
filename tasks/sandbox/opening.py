"""From an edition or a corpus to an index that can be asked: where it lies, what it is made of."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from tasks.base import Frozen
from tasks.configuration.inversion import InversionSettings
from tasks.configuration.sandbox import SandboxSettings
from tasks.configuration.web import ReadingBounds
from tasks.sandbox.bans import Ban, Copies
from tasks.sandbox.corpus import corpus_name, corpus_pages
from tasks.sandbox.embedding import MODEL
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.index import Builder, Built, IndexProgress
from tasks.sandbox.page import ServedPage, in_turn
from tasks.sandbox.snapshot import count_pages, snapshot_articles, snapshot_bans, snapshot_pages
from tasks.warehouse.location import Where, location
from tasks.warehouse.rows import content_sha

VERSION = "1"
"""Raise it when pages are cut or marked otherwise: an index of another version is not used."""


class Source(Frozen):
    """Where pages come from, and whose assignments they are served for."""

    edition: str | None = None
    snapshot: Path | None = None
    """Of that edition, exported."""
    corpus: Path | None = None
    """JSONL and WARC files; null: the edition's own pages."""

    @property
    def name(self) -> str:
        corpus = corpus_name(self.corpus) if self.corpus else None
        return "+".join(name for name in (self.edition, corpus) if name)

    def bans(self) -> dict[str, Ban]:
        """What each of the edition's assignments must not use."""
        return snapshot_bans(self.snapshot) if self.snapshot else {}

    def articles(self) -> dict[str, str]:
        return snapshot_articles(self.snapshot) if self.snapshot else {}

    def pages(
        self,
        bounds: ReadingBounds,
        left_out: Callable[[str], None],
        no_day: Callable[[str], None],
    ) -> AsyncIterator[ServedPage]:
        if self.corpus:
            return corpus_pages(self.corpus, bounds, left_out, no_day)
        assert self.snapshot is not None
        return in_turn(snapshot_pages(self.snapshot))

    def n_pages(self) -> int | None:
        """About how many there are; None where only reading them all would tell."""
        return count_pages(self.snapshot) if self.snapshot and not self.corpus else None


def sandboxes_folder(warehouse: Where) -> Path:
    """Where the indexes of a warehouse lie: `sandbox/<its name>` beside it."""
    return location(warehouse).beside("sandbox")


async def build(
    source: Source,
    place: Path,
    settings: SandboxSettings,
    inversion: InversionSettings,
    bounds: ReadingBounds,
    *,
    on_progress: Callable[[IndexProgress], None] = lambda _: None,
    left_out: Callable[[str], None] = lambda _: None,
    no_day: Callable[[str], None] = lambda _: None,
    wait: Callable[[], None] = lambda: None,
) -> tuple[Path, Built]:
    """Build or update the index of a source; its folder in `place`, and what was done.

    left_out: told of every page that cannot be served. no_day: told of every date that cannot be
    read. wait: called if another process is building the same index, which this one then waits for.

    Raises:
        SandboxError: the pages cannot be read, there are none, or the index cannot be written.
        ConfigurationError: an extra is not installed.
    """
    copies = Copies(source.articles(), inversion.mirror_ngram_words, inversion.mirror_share)
    folder = place / f"{_file_safe(source.name)}-{_settings_sha(settings, inversion, copies)}"
    builder = Builder(folder, settings, copies, inversion.mirror_hosts, on_progress, left_out)
    built = await builder.build(source.pages(bounds, left_out, no_day), wait)
    if not built.current.n_pages:
        raise SandboxError(_nothing(source))
    return folder, built


def _nothing(source: Source) -> str:
    if source.corpus:
        return (
            f"{source.corpus}: no page can be served. Expected lines with `url` and `text` "
            "(JSONL), or answers with status 200 and texts (WARC); what was left out is said above."
        )
    return (
        f"{source.edition} has no page that can be served. `evergreen fetch --edition "
        f"{source.edition}` asks for what its reports cite; or name pages with --corpus."
    )


def _settings_sha(settings: SandboxSettings, inversion: InversionSettings, copies: Copies) -> str:
    """Of all that another index would be made by."""
    vectors = [MODEL, str(settings.approximate_from)] if settings.ranking != "bm25" else []
    hosts = sorted(inversion.mirror_hosts)
    return content_sha(VERSION, str(settings.passage_words), copies.sha, *hosts, *vectors)[:10]


def _file_safe(name: str) -> str:
    return name.replace("/", "_")
