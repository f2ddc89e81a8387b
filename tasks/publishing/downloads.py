"""The site's downloads: tables as Parquet, small ones also as CSV and JSON, a data card, and the
edition's manifest; and whether a site shows the current figures already, so that it need not be
written.
"""

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from tasks.base import Frozen
from tasks.editions.refresh import load_refresh
from tasks.publishing.material import SiteMaterial
from tasks.secrecy.guard import KeyGuard
from tasks.site.content import Download
from tasks.site.environment import SitePages, render_page
from tasks.site.folder import SiteFolder
from tasks.site.mark import MARK, resolve_link
from tasks.spreadsheets import format_csv
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

_JUDGED = "WHERE edition = $1 AND list_contains($2, judge) ORDER BY"
_OF = "WHERE edition = $1 ORDER BY"
TABLES: dict[str, tuple[str, str]] = {
    "leaderboard": ("every figure with its interval, rank range and number of items",
                    f"SELECT * FROM leaderboard {_JUDGED} protocol, metric, judge, agent"),
    "agent_pairs": ("differences between any two agents, by metric",
                    f"SELECT * FROM agent_pairs {_JUDGED} protocol, metric, judge, agent, other"),
    "scores": ("every metric of every report",
               f"SELECT * FROM scores {_JUDGED} protocol, metric, judge, agent, assignment"),
    "verdicts": ("every verdict with label, reason, evidence, model version, prompt sha and call",
                 f"SELECT * FROM current_verdicts {_JUDGED} cell_id, step, item"),
    "assignments": ("the agents' assignments", f"SELECT * FROM assignments {_OF} assignment"),
    "articles": ("the reference articles, without their text",
                 f"SELECT * EXCLUDE (text) FROM articles {_OF} article"),
    "facts": ("the facts of the articles, under the articles' licence",
              f"SELECT * FROM facts {_OF} article, number"),
    "reports": ("the agents' reports",
                f"SELECT * EXCLUDE (source_path) FROM reports {_OF} agent, assignment"),
    "claims": ("the reports' claims", f"SELECT * FROM claims {_OF} agent, assignment, number"),
    "citations": ("the claims' citations of pages",
                  f"SELECT * FROM citations {_OF} agent, assignment, number, url"),
    "pages": ("the cited pages, without their text: status, time of fetching, sha-256",
              f"SELECT * EXCLUDE (text) FROM pages {_OF} url"),
}  # fmt: skip
"""Name → description and query. Texts of other people's pages, prompts and raw answers stay in the
warehouse."""
IMPORTED_MANIFEST = {
    "articles": f"SELECT article, title, url, text_sha FROM articles {_OF} article",
    "assignments": "SELECT assignment, article, kind, prompt_sha FROM assignments "
    f"{_OF} assignment",
    "reports": f"SELECT agent, assignment, status, text_sha FROM reports {_OF} agent, assignment",
}
"""The contents of an imported edition's manifest."""
SMALL = ("leaderboard", "agent_pairs", "scores")
"""Tables also written as CSV, and the first also as JSON."""


def write_data_files(material: SiteMaterial, pages: SitePages) -> None:
    folder = pages.folder
    files = [file for name in TABLES for file in _write_table(material, folder, name)]
    what = "the edition's manifest: its contents by sha-256"
    files.append(_add_file(folder, "manifest.json", _make_manifest(material), what))
    card = render_page("card.md", site=pages.info, material=material, tables=TABLES)
    files.append(_add_file(folder, "README.md", card, "the data card"))
    pages.add("data.html", files=files, card=card)


def _write_table(material: SiteMaterial, folder: SiteFolder, name: str) -> Iterator[Download]:
    what = TABLES[name][0]
    frame = folder.guard.check_frame(_load_table(material, name), name)
    parquet = BytesIO()
    frame.write_parquet(parquet, compression="zstd")
    yield _add_file(folder, f"{name}.parquet", parquet.getvalue(), what, frame.height)
    if name in SMALL:
        csv = format_csv(frame)
        yield _add_file(folder, f"{name}.csv", csv, f"{what}, as CSV", frame.height)
    if name == SMALL[0]:
        json = orjson.dumps(frame.to_dicts(), option=orjson.OPT_INDENT_2).decode()
        yield _add_file(folder, f"{name}.json", json, f"{what}, as JSON", frame.height)


def check_tables(material: SiteMaterial, guard: KeyGuard) -> None:
    """Check the tables before anything is written: a message then names row and field. The keys in
    others' texts, such as a judge's quotations, are known from here on.

    Raises:
        LeakedKey: a table holds a key.
    """
    for name in TABLES:
        guard.check_frame(_load_table(material, name), name)


def _load_table(material: SiteMaterial, name: str) -> pl.DataFrame:
    query = TABLES[name][1]
    parameters: list[Any] = [material.edition]
    if "$2" in query:
        parameters.append(list(material.judges))
    return material.source.frame(query, parameters)


def _make_manifest(material: SiteMaterial) -> str:
    """Return a collected edition's frozen manifest; for an imported edition, one with the sha-256
    of articles, prompts and reports."""
    frame = material.source.frame(
        "SELECT manifest FROM collections WHERE edition = $1 AND manifest IS NOT NULL",
        [material.edition],
    )
    if frame.height:
        return str(frame.item())
    contents = {
        name: material.source.frame(query, [material.edition]).to_dicts()
        for name, query in IMPORTED_MANIFEST.items()
    }
    about = {"edition": material.edition, "source": material.origin}
    return orjson.dumps(about | contents, option=orjson.OPT_INDENT_2).decode()


def _add_file(
    folder: SiteFolder, name: str, data: str | bytes, what: str, rows: int | None = None
) -> Download:
    folder.add(f"data/{name}", data)
    n_bytes, sha = folder.files[f"data/{name}"]
    return Download(name, what, n_bytes, sha, rows)


PUBLISHED = """
SELECT folder, judges FROM publications WHERE is_written AND edition = $1 ORDER BY published_at
"""
COMPARED = ("leaderboard", "scores")
"""The tables to compare: every figure, and every report's scores with the ids of their cells. A new
version of the site's templates does not make a site outdated."""
RANKED = "SELECT DISTINCT judge FROM leaderboard WHERE edition = $1"


class PublishedSite(Frozen):
    """A site of an edition."""

    folder: str
    judges: tuple[str, ...] = ()
    """The judges whose figures it was to show; all if empty."""


def find_sites(source: Readable, edition: str) -> list[PublishedSite]:
    """Return the edition's sites that `publish` or `refresh` has written and that are still there,
    the last one at the end."""
    written = source.frame(PUBLISHED, [edition]).iter_rows()
    sites = [
        PublishedSite(folder=folder, judges=json.loads(judges) or ()) for folder, judges in written
    ]
    if monthly := load_refresh().publish:
        folder = monthly.to.format(edition=edition)
        sites.insert(0, PublishedSite(folder=folder, judges=monthly.judges))
    last = {site.folder: site for site in sites}
    return [
        site for site in last.values() if _read_judges(resolve_link(Path(site.folder)), edition)
    ]


def is_current(source: Readable, edition: str, to: Path, judges: Sequence[str] = ()) -> bool:
    """Return whether the folder holds a complete site of this edition with the current figures.

    judges: the judges whose figures it must show; all if empty.
    """
    folder = resolve_link(to)
    on_site = _read_judges(folder, edition)
    wanted = {*judges} or {*source.frame(RANKED, [edition])["judge"]}
    if not wanted or {*on_site} != wanted:
        return False
    return all(_matches_table(source, folder, name, edition, on_site) for name in COMPARED)


def describe_current(edition: str, folder: str) -> str:
    """Return a message that the site shows the current figures."""
    return f"The site of {edition} in {folder} is up to date."


def _read_judges(folder: Path, edition: str) -> list[str]:
    """Read the judges of a complete site of this edition; else none."""
    try:
        mark = json.loads((folder / MARK).read_text("utf-8"))
        whole = mark["edition"] == edition and not mark.get("unfinished")
        return [str(judge) for judge in mark["judges"]] if whole else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _matches_table(
    source: Readable, folder: Path, table: str, edition: str, judges: Sequence[str]
) -> bool:
    current = source.frame(TABLES[table][1], [edition, list(judges)])
    try:
        return (folder / f"data/{table}.csv").read_bytes() == format_csv(current).encode()
    except OSError:
        return False


def hash_figures(source: Readable, edition: str, judges: Sequence[str] = ()) -> str:
    """Hash the current figures of these judges, or of all if empty."""
    wanted = sorted({*judges} or {*source.frame(RANKED, [edition])["judge"]})
    board = source.frame(TABLES["leaderboard"][1], [edition, wanted])
    return content_sha(board.write_csv())[:16]
