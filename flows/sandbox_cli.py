"""`evergreen sandbox`: an archive of pages, served to agents."""

import asyncio
import os
import time
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flows.console import ANSWERS, REMARKS
from flows.options import WarehousePath
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.inversion import load_inversion
from tasks.configuration.sandbox import Ranking, SandboxSettings, load_sandbox
from tasks.configuration.web import load_web
from tasks.selection import UnknownName
from tasks.warehouse.snapshot import latest_snapshot
from tasks.warehouse.store import DEFAULT_PATH

if TYPE_CHECKING:
    from tasks.sandbox.bans import Ban
    from tasks.sandbox.calls import Served
    from tasks.sandbox.opening import Source
    from tasks.sandbox.search import SearchIndex

SHOWN = 5
"""Remarks on pages that are left out; the others are counted."""


def sandbox(
    edition: Annotated[
        str | None, typer.Option("--edition", help="Whose pages and assignments are served.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus", help="Serve the pages of these JSONL or WARC files (a file or a folder)."
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="Leave out pages of later than this day (2025-11-30)."),
    ] = None,
    assignment: Annotated[
        str | None,
        typer.Option("--assignment", help="Serve this assignment only: what it bans is not there."),
    ] = None,
    without_banned: Annotated[
        bool,
        typer.Option(
            "--without-banned",
            help="To requests that name no assignment, give nothing that any assignment bans.",
        ),
    ] = False,
    ranking: Annotated[
        Ranking | None, typer.Option("--ranking", help="As in configs/sandbox.yaml if not given.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any.")] = 8100,
    api_key_env: Annotated[
        str | None,
        typer.Option("--api-key-env", help="The variable with the key, or keys with commas."),
    ] = None,
    per_minute: Annotated[
        int | None, typer.Option("--per-minute", min=1, help="Requests of one key or address.")
    ] = None,
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Print every query; otherwise none is kept.")
    ] = False,
    build_only: Annotated[
        bool, typer.Option("--build-only", help="Build or update the index, then end.")
    ] = False,
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Serve an archive's pages to agents: search, fetch, and both as MCP tools.

    The index is made of the edition's last export, or of a corpus, and updated at each start.
    """
    # What serves takes a second to load: not for those who ask for something else.
    from tasks.sandbox.calls import Served
    from tasks.sandbox.opening import Source

    if edition is None and corpus is None:
        raise typer.BadParameter("say --edition, --corpus, or both.")
    if edition is None and (assignment or without_banned):
        raise typer.BadParameter("assignments belong to an edition: say --edition, too.")
    settings = _settings(ranking, per_minute)
    snapshot = latest_snapshot(warehouse, edition) if edition else None
    source = Source(edition=edition, snapshot=snapshot, corpus=corpus)
    bans = source.bans()
    served = Served(
        name=source.name,
        bans=bans,
        ban=_ban(bans, source.name, assignment, without_banned=without_banned),
        assignment=assignment,
        as_of=_day(as_of),
        keys=_keys(api_key_env),
    )
    serving_on = None if build_only else port
    with suppress(KeyboardInterrupt):
        asyncio.run(
            _run(source, served, settings, warehouse, host, serving_on, log_queries=log_queries)
        )
    if not build_only:
        REMARKS.print("Ended.")


class LeftOut:
    """Remarks on pages that cannot be served: the first few, and how many there are."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._n = 0

    def __call__(self, line: str) -> None:
        self._n += 1
        if len(self._first) < SHOWN:
            self._first.append(line)

    def say(self) -> None:
        for line in self._first:
            REMARKS.print(f"left out: {line}", style="yellow", markup=False, highlight=False)
        if self._n > SHOWN:
            REMARKS.print(f"left out: {self._n - SHOWN:,} more", style="yellow")


async def _run(
    source: "Source",
    served: "Served",
    settings: SandboxSettings,
    warehouse: Path,
    host: str,
    port: int | None,
    *,
    log_queries: bool,
) -> None:
    """Build; with a port, serve as well."""
    from tasks.sandbox.calls import Calls
    from tasks.sandbox.search import open_index
    from tasks.sandbox.service import application
    from tasks.sandbox.serving import address_of, bound, serve

    listening = bound(host, port) if port is not None else None  # before the long work
    folder = await _built(source, settings, warehouse)
    if listening is None:
        return
    index = await open_index(folder, settings)
    _say_undated(index, served.as_of, settings)
    calls = Calls(index, served, settings, _log if log_queries else None)
    address = address_of(listening)
    await serve(application(calls, host), listening, lambda: _say_address(address, served))


async def _built(source: "Source", settings: SandboxSettings, warehouse: Path) -> Path:
    from tasks.sandbox.index import Follow
    from tasks.sandbox.opening import build, sandboxes_folder

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    left_out = LeftOut()
    began = time.monotonic()
    with Progress(*columns, console=REMARKS, transient=True) as bars:
        bar = bars.add_task("reading pages", total=source.n_pages())

        def follow(state: Follow) -> None:
            bars.update(bar, completed=state.pages, description=state.doing)

        folder, built = await build(
            source,
            sandboxes_folder(warehouse),
            settings,
            load_inversion(),
            load_web().reading,
            follow=follow,
            left_out=left_out,
            wait=lambda: REMARKS.print("Another process builds this index; waiting for it."),
        )
    left_out.say()
    now = built.current
    done = (f"{built.new:,} new or changed, {built.gone:,} gone, "
            f"{time.monotonic() - began:.1f} s")  # fmt: skip
    REMARKS.print(
        f"{source.name}: {now.n_pages:,} pages in {now.n_passages:,} passages, "
        f"{_megabytes(folder):.0f} MB ({done})",
        highlight=False,
    )
    REMARKS.print(f"Index      {folder}", markup=False, highlight=False)
    return folder


def _say_address(address: str, served: "Served") -> None:
    query = urlencode({"query": "history", "k": 3, "format": "json"})
    key = ' -H "x-api-key: $KEY"' if served.keys else ""
    ANSWERS.print(f"Search     {address}/search?query=&k=", markup=False, highlight=False)
    ANSWERS.print(f"Fetch      {address}/fetch?url=", markup=False, highlight=False)
    ANSWERS.print(f"MCP        {address}/mcp", markup=False, highlight=False)
    ANSWERS.print(f"Try        curl{key} '{address}/search?{query}'", markup=False,
                  highlight=False, soft_wrap=True)  # fmt: skip
    REMARKS.print("Ctrl-C ends it.")


def _say_undated(index: "SearchIndex", as_of: date | None, settings: SandboxSettings) -> None:
    if as_of and (n := index.catalogue.n_undated):
        what = "are left out" if settings.undated == "leave_out" else "are served all the same"
        REMARKS.print(
            f"{n:,} of {len(index.catalogue.rows):,} pages say neither when they were published "
            f"nor when they were fetched; they {what} (`undated` in configs/sandbox.yaml).",
            style="yellow",
        )


def _settings(ranking: Ranking | None, per_minute: int | None) -> SandboxSettings:
    said = {"ranking": ranking, "per_minute": per_minute}
    return load_sandbox().model_copy(update={n: v for n, v in said.items() if v is not None})


def _ban(
    bans: dict[str, "Ban"], name: str, assignment: str | None, *, without_banned: bool
) -> "Ban | None":
    from tasks.sandbox.bans import united

    if assignment is not None and assignment not in bans:
        raise UnknownName(f"{name} has no assignment {assignment!r}.")
    if assignment is not None:
        return bans[assignment]
    return united(bans.values()) if without_banned else None


def _day(said: str | None) -> date | None:
    try:
        return date.fromisoformat(said) if said else None
    except ValueError:
        raise typer.BadParameter(f"--as-of: expected a day as 2025-11-30, not {said!r}.") from None


def _keys(variable: str | None) -> tuple[str, ...]:
    if variable is None:
        return ()
    keys = tuple(key.strip() for key in os.environ.get(variable, "").split(",") if key.strip())
    if not keys:
        raise ConfigurationError(
            f"{variable} is not set or empty; export the key that agents are to send."
        )
    return keys


def _log(line: str) -> None:
    now = datetime.now(UTC)
    REMARKS.print(f"{now:%Y-%m-%d %H:%M:%S} {line}", markup=False, highlight=False)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
