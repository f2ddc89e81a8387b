"""The archive that programs get: an edition's pages without those that any assignment bans.

It is a copy, so that nothing that a program does to it reaches the snapshot. All programs of an
edition share one copy, which later runs use again while the edition's pages and bans are unchanged.
"""

import os
import shutil
from hashlib import sha256
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.configuration.inversion import InversionSettings
from tasks.extraction.bans import is_on_host
from tasks.files.checksums import hash_file
from tasks.files.locks import hold_lock
from tasks.sandbox.catalogue import Catalogue, CopyDetector, PageFilter
from tasks.sandbox.snapshot import (
    BATCH_ROWS,
    open_file,
    read_articles,
    read_ban,
    read_rows,
    read_seeds,
)
from tasks.secrecy.guard import KeyGuard

VERSION = "2"
"""Increase it when something else is left out or masked: other versions' copies are ignored."""
PAGES_FILE = "pages.parquet"
KEPT_COPIES = 4
"""The newest and those before it, which programs that are still running may read."""


def make_program_archive(
    snapshot: Path, parent: Path, inversion: InversionSettings, *, given_sources: bool = False
) -> Path:
    """Return a read-only folder with only `pages.parquet`, made in `parent` unless it is there.

    A copy that was changed is made again. The copies that were used least recently are removed.

    given_sources: whether it is for an agent that is given the pages that the articles' references
    link to. Its copy holds only these; other agents' copies hold those that another agent cites.

    Raises:
        SandboxError: the snapshot or a ban in it cannot be read.
        LeakedKey: a page holds one of our keys.
        OSError: the folder cannot be written.
    """
    detector = CopyDetector(
        read_articles(snapshot), inversion.mirror_ngram_words, inversion.mirror_share
    )
    ban = read_ban(snapshot)
    seeds = read_seeds(snapshot)
    chosen = seeds.given if given_sources else seeds.withheld
    parts = (VERSION, str(given_sources), *sorted(chosen), detector.sha, ban.model_dump_json(),
             *sorted(inversion.mirror_hosts))  # fmt: skip
    content = sha256("\0".join(parts).encode())
    content.update(hash_file(snapshot / PAGES_FILE).encode())
    folder = parent / content.hexdigest()[:32]
    parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(parent / ".lock"):
        if not _is_intact(folder):
            catalogue = _read_catalogue(snapshot, detector, inversion.mirror_hosts)
            shown = catalogue.find_served(PageFilter(ban=ban))
            shown = shown & chosen if given_sources else shown - chosen
            _write_copy(snapshot / PAGES_FILE, shown, folder)
        os.utime(folder)
        copies = sorted(
            (path for path in parent.iterdir() if path.is_dir()),
            key=lambda path: path.stat().st_mtime_ns,
        )
        for old in copies[:-KEPT_COPIES]:
            _remove(old)
    return folder


def _read_catalogue(
    snapshot: Path, detector: CopyDetector, mirror_hosts: tuple[str, ...]
) -> Catalogue:
    rows = [
        {
            "url": row["url"],
            "final_url": row["final_url"],
            "day": None,
            "encyclopedia": any(
                is_on_host(place, mirror_hosts) for place in (row["url"], row["final_url"]) if place
            ),
            "copies": detector.find_articles(row["text"] or ""),
            "_rowid": number,
        }
        for number, row in enumerate(read_rows(snapshot / PAGES_FILE, ("url", "final_url", "text")))
    ]
    return Catalogue(rows, keep_undated=True)


def _mask_keys(batch: pa.RecordBatch, guard: KeyGuard) -> pa.RecordBatch:
    """Mask the keys in others' texts, which in this table are all."""
    frame = cast(pl.DataFrame, pl.from_arrow(batch))
    masked = guard.check_frame(frame, "pages", frame.columns)
    if masked.equals(frame):
        return batch
    texts = {
        name: masked[name].to_list() for name in frame.columns if frame[name].dtype == pl.String
    }
    columns = [
        pa.array(texts[field.name], field.type) if field.name in texts else batch.column(place)
        for place, field in enumerate(batch.schema)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _write_copy(pages: Path, shown: frozenset[str], folder: Path) -> None:
    """Copy the rows of these pages; the folder appears only when it is complete."""
    fresh = folder.with_name(f".fresh-{folder.name}")
    for stale in (fresh, folder):
        _remove(stale)
    fresh.mkdir()
    target = fresh / PAGES_FILE
    with (
        open_file(pages) as source,
        pq.ParquetWriter(target, source.schema_arrow, compression="zstd") as writer,
    ):
        guard = KeyGuard()
        for batch in source.iter_batches(BATCH_ROWS):
            kept = pa.array([url in shown for url in batch.column("url").to_pylist()], pa.bool_())
            writer.write_batch(_mask_keys(batch.filter(kept), guard))
    _digest_file(folder).write_text(hash_file(target), "utf-8")
    target.chmod(0o444)
    fresh.replace(folder)
    folder.chmod(0o555)


def _is_intact(folder: Path) -> bool:
    """Whether a copy is complete and unchanged."""
    try:
        names = {path.name for path in folder.iterdir()}
        digest = _digest_file(folder).read_text("utf-8")
        return names == {PAGES_FILE} and digest == hash_file(folder / PAGES_FILE)
    except OSError:
        return False


def _digest_file(folder: Path) -> Path:
    return folder.with_suffix(".sha256")


def _remove(folder: Path) -> None:
    if folder.is_dir():
        folder.chmod(0o755)
        shutil.rmtree(folder)
    _digest_file(folder).unlink(missing_ok=True)
