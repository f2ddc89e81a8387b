"""Publish an edition: a folder of static files that need no server, no network and no script."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import polars as pl

from tasks.processes.pool import HelperProcesses
from tasks.publishing.agents import agent_pages
from tasks.publishing.analyses import analyses_page
from tasks.publishing.assignments import article_pages
from tasks.publishing.boards import (
    board_views,
    category_options,
    parts_file,
    parts_of,
    window_options,
)
from tasks.publishing.cited_pages import cited_pages
from tasks.publishing.differences import differences_page
from tasks.publishing.downloads import data_files
from tasks.publishing.edition import edition_page
from tasks.publishing.material import Material, Snapshots, read_material
from tasks.publishing.method import method_page
from tasks.publishing.reports import report_pages
from tasks.site.content import BoardView, Counts, Notice, Option, Site
from tasks.site.environment import asset, page
from tasks.site.folder import SiteFolder
from tasks.warehouse.store import Readable

ASSETS = ("assets/site.css", "assets/site.js")
OnProgress = Callable[[str, int, int], None]
"""Told what is being written, how many files of it there are, and how many there will be."""
COUNTS = """
WITH judged AS (
    SELECT status FROM current_verdicts WHERE edition = $1 AND list_contains($2, judge)
)
SELECT
    (SELECT count(*) FROM judged) AS verdicts,
    (SELECT count(*) FROM judged WHERE status = 'ok') AS decided,
    (SELECT count(DISTINCT c.url) FROM citations AS c JOIN pages AS p USING (edition, url)
        WHERE c.edition = $1 AND p.status = 'ok') AS pages
"""


@dataclass(frozen=True)
class Published:
    """What was written."""

    folder: Path
    files: int
    bytes: int
    first_load_bytes: int
    """Of the leaderboard with its style and script: what a reader waits for first."""
    largest_page: str
    largest_page_bytes: int
    """Of all pages, with style and script."""
    seconds: float
    provisional: bool


def publish_site(
    source: Readable,
    edition: str,
    to: Path,
    *,
    judges: Sequence[str] = (),
    snapshots: Snapshots = "passages",
    on_progress: OnProgress = lambda what, done, total: None,
) -> Published:
    """Write an edition's site; the folder is replaced in one step, when everything is there.

    Args:
        to: an empty or new folder, or one that holds a site.
        judges: only theirs; pages mark claims by the first. All that have figures if empty, the
            one that decided most first.
        snapshots: of cited pages the passages that verdicts rest on, or their whole text.

    Raises:
        UnknownName: no such edition, or nothing judged.
        UnwritableSite: the folder holds something else, or cannot be written.
    """
    begun = monotonic()
    material = read_material(source, edition, judges, snapshots)
    views = board_views(material)
    site = _site(material)
    helpers = HelperProcesses()
    try:
        with SiteFolder(to) as folder:
            _write(material, site, views, folder, helpers, on_progress)
            folder.finish({"edition": edition, "judges": list(material.judges)})
    finally:
        helpers.close()
    return _published(to, folder, monotonic() - begun, material)


def _write(
    material: Material,
    site: Site,
    views: Sequence[BoardView],
    folder: SiteFolder,
    helpers: HelperProcesses,
    on_progress: OnProgress,
) -> None:
    """All files; what computes for long is done by helpers."""
    parts = {view.key: helpers.submit(parts_file, parts_of(material, view))
             for view in views if view.has_parts}  # fmt: skip
    for name in ASSETS:
        folder.add(name, asset(name.removeprefix("assets/")))
    folder.add("index.html", _index(material, site, views))
    gathered = report_pages(material, site, folder, helpers, on_progress)
    article_pages(material, site, folder, gathered, on_progress)
    cited_pages(material, site, folder, gathered, on_progress)
    agent_pages(material, site, views, folder)
    edition_page(material, site, folder)
    differences_page(material, site, folder)
    analyses_page(material, site, folder)
    method_page(material, site, folder)
    data_files(material, site, folder)
    for key, part in parts.items():
        folder.add(f"data/parts/{key}.js", part.result())


def _site(material: Material) -> Site:
    notices = []
    if material.offline:
        every = material.offline == material.judges
        named = " and ".join(material.judge_title(judge) for judge in material.offline)
        beside = f"Where it is said, figures are by the {named}; other judges stand beside theirs."
        notices.append(Notice("judge", f"Judged by the {named}." if every else beside))
    if is_provisional(material):
        n_open = _open_reports(material)
        notices.append(
            Notice("provisional", "Provisional edition: figures with a star (*) rest on items that "
                   f"are still to be decided ({n_open:,} reports have some).")
        )  # fmt: skip
    licence = (
        "Articles, and facts taken from them, stand under their own licence (Wikipedia's: CC BY-SA "
        "4.0); reports are their agents' output."
    )
    return Site(material.title, material.edition, tuple(notices), licence)


def is_provisional(material: Material) -> bool:
    """Whether any figure of the site is."""
    return bool(material.leaderboard.filter(pl.col("value").is_not_null())["provisional"].any())


def _open_reports(material: Material) -> int:
    waiting = material.scores.filter(
        (pl.col("n_open") > 0) | pl.col("state").is_in(["pending", "failed"])
    )
    return waiting.select("agent", "assignment").unique().height


def _index(material: Material, site: Site, views: Sequence[BoardView]) -> str:
    frame = material.source.frame(COUNTS, [material.edition, list(material.judges)])
    counts = Counts(
        articles=len(material.assignments),
        agents=material.reports["agent"].n_unique(),
        reports=material.reports.height,
        n_open=_open_reports(material),
        **frame.row(0, named=True),
    )
    titles = dict.fromkeys(view.title for view in views)
    judges = {view.judge: view.judge_title for view in views}
    return page(
        "index.html",
        site=site,
        here="index.html",
        counts=counts,
        boards=views,
        protocols=[Option(title, title) for title in titles],
        judges=[Option(name, title) for name, title in judges.items()],
        categories=category_options(material),
        windows=window_options(material),
    )


def _published(to: Path, folder: SiteFolder, seconds: float, material: Material) -> Published:
    shared = sum(folder.files[name][0] for name in ASSETS)
    pages = {name: n for name, (n, _) in folder.files.items() if name.endswith(".html")}
    largest = max(pages, key=lambda name: (pages[name], name))
    return Published(
        folder=to,
        files=len(folder.files) + 1,
        bytes=sum(n for n, _ in folder.files.values()),
        first_load_bytes=pages["index.html"] + shared,
        largest_page=largest,
        largest_page_bytes=pages[largest] + shared,
        seconds=seconds,
        provisional=is_provisional(material),
    )
