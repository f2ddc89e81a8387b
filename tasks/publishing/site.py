"""Write an edition's site: static files that need no server, no network and no script."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

import polars as pl

from tasks.base import format_count
from tasks.configuration.secrets import refuse_signing
from tasks.processes.pool import HelperProcesses
from tasks.publishing.agents import write_agent_pages
from tasks.publishing.analyses import write_analyses_page, write_differences_page
from tasks.publishing.assignments import write_article_pages
from tasks.publishing.board_parts import (
    list_categories,
    list_quarters,
    load_board_parts,
    render_parts,
)
from tasks.publishing.boards import make_board_views
from tasks.publishing.downloads import check_tables, write_data_files
from tasks.publishing.edition import write_edition_page
from tasks.publishing.material import SiteMaterial, Snapshots, load_material
from tasks.publishing.method import write_method_page
from tasks.publishing.reports import write_cited_pages, write_report_pages
from tasks.site.content import BoardView, SiteInfo
from tasks.site.environment import SitePages, load_asset
from tasks.site.folder import SiteFolder
from tasks.warehouse.store import Readable

ASSETS = ("assets/site.css", "assets/site.js")
OnProgress = Callable[[str, int, int], None]
"""Called with what is being written, how much of it is, and the total."""
TRIAL = "SELECT coalesce(bool_or(trial), false) FROM collections WHERE edition = $1"
NO_MODEL = (
    "no figure here rests on a provider's model. This judge is good for the order of agents, not "
    "for their levels: on eight published agents its order agrees with the published one by .76 "
    "(Spearman; by .95 if claims that cite the article itself count)."
)
"""What the offline judge's figures are worth, by docs/explanation/published-edition.md."""
COUNTS = """
WITH judged AS (
    SELECT status FROM current_verdicts WHERE edition = $1 AND list_contains($2, judge)
)
SELECT
    (SELECT count(*) FROM judged) AS verdicts,
    (SELECT count(*) FROM judged WHERE status = 'ok') AS decided,
    (SELECT count(DISTINCT coalesce(p.final_url, c.url))
        FROM citations AS c JOIN pages AS p USING (edition, url)
        WHERE c.edition = $1 AND p.status = 'ok') AS pages
"""


@dataclass(frozen=True)
class SiteSummary:
    """The site that was written."""

    folder: Path
    files: int
    bytes: int
    first_load_bytes: int
    """Bytes of the leaderboard page with style and script, which a reader loads first."""
    largest_page: str
    largest_page_bytes: int
    """Bytes of the largest page with style and script."""
    seconds: float
    provisional: bool


def build_site(
    source: Readable,
    edition: str,
    to: Path,
    *,
    judges: Sequence[str] = (),
    snapshots: Snapshots = "passages",
    on_progress: OnProgress = lambda what, done, total: None,
) -> SiteSummary:
    """Write an edition's site; the folder is replaced in one step once all files are written.

    Args:
        to: an empty or new folder, or one that holds a site.
        judges: the judges to show; pages mark claims by the first. If empty, all with figures, the
            one with the most decided items first.
        snapshots: include the passages of cited pages that verdicts rest on, or the whole text.

    Raises:
        UnknownName: no such edition, or nothing judged.
        LeakedKey: what would be published holds a key.
        UnwritableSite: the folder holds something else, or cannot be written.
        ConfigurationError: the environment names a key to sign with.
    """
    refuse_signing()
    started = monotonic()
    on_progress("figures", 0, 1)
    material = load_material(source, edition, judges, snapshots)
    views = make_board_views(material)
    info = _describe_site(material)
    helpers = HelperProcesses()
    try:
        with SiteFolder(to) as folder:
            check_tables(material, folder.guard)
            _write_files(material, SitePages(info, folder), views, helpers, on_progress)
            folder.finish({"edition": edition, "judges": list(material.judges)})
    finally:
        helpers.close()
    return _summarize(to, folder, monotonic() - started, material)


def _write_files(
    material: SiteMaterial,
    pages: SitePages,
    views: Sequence[BoardView],
    helpers: HelperProcesses,
    on_progress: OnProgress,
) -> None:
    """Write all files; helper processes do the slow computations."""
    parts = {
        view.key: helpers.submit(render_parts, load_board_parts(material, view))
        for view in views
        if view.has_parts
    }
    for name in ASSETS:
        pages.folder.add(name, load_asset(name.removeprefix("assets/")))
    _write_index(material, pages, views)
    gathered = write_report_pages(material, pages, helpers, on_progress)
    write_article_pages(material, pages, gathered, on_progress)
    write_cited_pages(material, pages, gathered, on_progress)
    on_progress("agents and analyses", 0, 1)
    write_agent_pages(material, views, pages)
    write_edition_page(material, pages)
    write_differences_page(material, pages)
    write_analyses_page(material, pages)
    write_method_page(material, pages)
    on_progress("data", 0, 1)
    write_data_files(material, pages)
    for done, (key, part) in enumerate(parts.items(), start=1):
        pages.folder.add(f"data/parts/{key}.js", part.result())
        on_progress("boards", done, len(parts))


def _describe_site(material: SiteMaterial) -> SiteInfo:
    notices: list[tuple[Literal["judge", "provisional", "trial"], str]] = []
    if material.source.frame(TRIAL, [material.edition]).item():
        notices.append(("trial", "Trial edition: it may share articles with other editions."))
    if material.offline:
        every = material.offline == material.judges
        named = " and ".join(material.judge_title(judge) for judge in material.offline)
        some = f"Some figures are by the {named}; boards and tables name their judge."
        notices.append(("judge", f"Judged by the {named}: {NO_MODEL}" if every else some))
    if is_provisional(material):
        n_open, n_undelivered = _count_open_reports(material), _count_undelivered(material)
        waits = []
        if n_open:
            waits.append(f"{n_open:,} {'report has' if n_open == 1 else 'reports have'} open items")
        if n_undelivered:
            waits.append(f"{format_count(n_undelivered, 'report')} never came")
        said = "Provisional edition: figures with a star (*) may still change"
        notices.append(("provisional", f"{'; '.join([said, *waits])}."))
    licence = (
        "Articles, and facts taken from them, are under their own licence (Wikipedia's: CC BY-SA "
        "4.0); reports are their agents' output."
    )
    return SiteInfo(material.title, material.edition, tuple(notices), licence)


def is_provisional(material: SiteMaterial) -> bool:
    """Return whether any figure of the site is provisional."""
    return bool(material.leaderboard.filter(pl.col("value").is_not_null())["provisional"].any())


def _count_open_reports(material: SiteMaterial) -> int:
    is_unfinished = pl.col("state").is_in(["pending", "failed"])
    waiting = material.scores.filter((pl.col("n_open") > 0) | is_unfinished)
    return waiting.select("agent", "assignment").unique().height


def _count_undelivered(material: SiteMaterial) -> int:
    """Count the assignments without any answer of an agent, by the protocol that has the most."""
    undelivered = pl.col("n_assignments") - pl.col("n_delivered") - pl.col("n_missing")
    by_agent = material.leaderboard.group_by("agent").agg(n=undelivered.max())
    return int(by_agent["n"].fill_null(0).sum())


def _write_index(material: SiteMaterial, pages: SitePages, views: Sequence[BoardView]) -> None:
    counted = material.source.frame(COUNTS, [material.edition, list(material.judges)])
    pages.add(
        "index.html",
        counts={
            "articles": len(material.assignments),
            "agents": material.reports["agent"].n_unique(),
            "reports": material.reports.height,
            "n_open": _count_open_reports(material),
            **counted.row(0, named=True),
        },
        boards=views,
        without_figures=[
            material.judge_title(judge)
            for judge in material.judges
            if not any(view.judge == judge for view in views)
        ],
        protocols=list(dict.fromkeys((view.title, view.title) for view in views)),
        judges=list({view.judge: view.judge_title for view in views}.items()),
        categories=list_categories(material),
        windows=list_quarters(material),
    )


def _summarize(to: Path, folder: SiteFolder, seconds: float, material: SiteMaterial) -> SiteSummary:
    shared = sum(folder.files[name][0] for name in ASSETS)
    pages = {name: n for name, (n, _) in folder.files.items() if name.endswith(".html")}
    largest = max(pages, key=lambda name: (pages[name], name))
    return SiteSummary(
        folder=to,
        files=len(folder.files) + 2,  # the mark and the list of files
        bytes=sum(n for n, _ in folder.files.values()),
        first_load_bytes=pages["index.html"] + shared,
        largest_page=largest,
        largest_page_bytes=pages[largest] + shared,
        seconds=seconds,
        provisional=is_provisional(material),
    )
