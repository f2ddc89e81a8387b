"""`evergreen sandbox`: an archive of pages, served to agents."""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.options import WarehouseAt
from flows.cli.sandbox_messages import Told, check_served, log, say_address, say_open
from flows.display.console import passing_bars, remark
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.inversion import load_inversion
from tasks.configuration.sandbox import Ranking, SandboxSettings, load_sandbox
from tasks.configuration.web import load_web
from tasks.editions.names import UnknownName, check_known
from tasks.warehouse.location import DEFAULT, Location
from tasks.warehouse.reading import reading
from tasks.warehouse.snapshot import latest_snapshot

if TYPE_CHECKING:
    from tasks.sandbox.bans import Ban
    from tasks.sandbox.calls import Served
    from tasks.sandbox.index import Built
    from tasks.sandbox.opening import Source

NAMED = 5
"""Assignments of an edition, where one that it does not have is asked for."""


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
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Serve an archive's pages to agents: search, fetch, and both as MCP tools.

    The index is made of the edition's last export, or of a corpus, and updated at each start.
    """
    # What serves takes a second to load: not for those who ask for something else.
    from tasks.sandbox.calls import Served
    from tasks.sandbox.gate import is_loopback
    from tasks.sandbox.opening import Source
    from tasks.sandbox.serving import bound

    if edition is None and corpus is None:
        raise typer.BadParameter("say --edition, --corpus, or both.")
    if edition is None and (assignment or without_banned):
        raise typer.BadParameter("assignments belong to an edition: say --edition, too.")
    settings = _settings(ranking, per_minute)
    snapshot = _snapshot(warehouse, edition) if edition else None
    source = Source(edition=edition, snapshot=snapshot, corpus=corpus)
    bans = source.bans()
    served = Served(
        name=source.name,
        bans=bans,
        ban=_ban(bans, edition, assignment, without_banned=without_banned),
        assignment=assignment,
        as_of=_day(as_of),
        keys=_keys(api_key_env),
    )
    listening = None if build_only else bound(host, port)  # before the long work
    folder = _built_or_stopped(source, settings, warehouse)
    if listening is None:
        return
    if not served.keys and not is_loopback(host):
        say_open(host)
    with suppress(KeyboardInterrupt):
        asyncio.run(
            _served(folder, served, settings, listening, host, log if log_queries else None)
        )
    remark("Ended.")


async def _served(
    folder: Path,
    served: "Served",
    settings: SandboxSettings,
    listening: socket,
    host: str,
    told: Callable[[str], None] | None,
) -> None:
    """Serve until Ctrl-C. told: every query."""
    from tasks.sandbox.calls import Calls
    from tasks.sandbox.search import open_index
    from tasks.sandbox.service import application
    from tasks.sandbox.serving import address_of, serve

    calls = Calls(await open_index(folder, settings), served, settings, told)
    check_served(calls)
    address = address_of(listening)
    await serve(application(calls, host), listening, lambda: say_address(address, served))


def _built_or_stopped(source: "Source", settings: SandboxSettings, warehouse: Location) -> Path:
    try:
        return asyncio.run(_built(source, settings, warehouse))
    except KeyboardInterrupt:
        remark("Stopped. What is built is kept; run again to go on.")
        raise typer.Exit(130) from None


async def _built(source: "Source", settings: SandboxSettings, warehouse: Location) -> Path:
    began = time.monotonic()
    left_out, no_day = Told("left out"), Told("date not read")
    try:
        folder, built = await _followed(source, settings, warehouse, left_out, no_day)
    finally:
        left_out.say(most=5)
        no_day.say(most=1)
    now = built.current
    done = (f"{built.new:,} new or changed, {built.gone:,} gone, "
            f"{time.monotonic() - began:.1f} s")  # fmt: skip
    remark(
        f"{source.name}: {now.n_pages:,} pages in {now.n_passages:,} passages, "
        f"{_megabytes(folder):.0f} MB ({done})",
    )
    remark(f"Index      {folder}")
    return folder


async def _followed(
    source: "Source", settings: SandboxSettings, warehouse: Location, left_out: Told, no_day: Told
) -> tuple[Path, "Built"]:
    """Build under a bar."""
    from tasks.sandbox.index import IndexProgress
    from tasks.sandbox.opening import build, sandboxes_folder

    with passing_bars() as bars:
        bar = bars.add_task("reading pages", total=source.n_pages())

        def on_progress(state: IndexProgress) -> None:
            bars.update(bar, completed=state.pages, description=state.doing)

        return await build(
            source,
            sandboxes_folder(warehouse),
            settings,
            load_inversion(),
            load_web().reading,
            on_progress=on_progress,
            left_out=left_out,
            no_day=no_day,
            wait=lambda: remark("Another process builds this index; waiting for it."),
        )


def _settings(ranking: Ranking | None, per_minute: int | None) -> SandboxSettings:
    said = {"ranking": ranking, "per_minute": per_minute}
    return load_sandbox().model_copy(update={n: v for n, v in said.items() if v is not None})


def _snapshot(warehouse: Location, edition: str) -> Path:
    """The edition's last export.

    Raises:
        WarehouseError: there is no warehouse.
        UnknownName: it has no such edition.
    """
    snapshot = latest_snapshot(warehouse, edition)
    if not snapshot.exists():
        with reading(warehouse) as source:
            check_known(source, edition)
    return snapshot


def _ban(
    bans: dict[str, "Ban"], edition: str | None, assignment: str | None, *, without_banned: bool
) -> "Ban | None":
    from tasks.sandbox.bans import united

    if assignment is not None and assignment not in bans:
        raise UnknownName(_no_assignment(bans, str(edition), assignment))
    if assignment is not None:
        return bans[assignment]
    return united(bans.values()) if without_banned else None


def _no_assignment(bans: dict[str, "Ban"], edition: str, assignment: str) -> str:
    if not bans:
        return f"{edition} has no assignments. `evergreen assign --edition {edition}` makes them."
    names = ", ".join(sorted(bans)[:NAMED])
    quoted = edition.replace("'", "''")
    return (
        f"{edition} has no assignment {assignment!r}; it has {len(bans):,}, such as {names}. All: "
        f"evergreen sql \"SELECT assignment FROM assignments WHERE edition = '{quoted}'\""
    )


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
    if not all(key.isascii() and key.isprintable() for key in keys):
        raise ConfigurationError(
            f"{variable} holds characters that no HTTP header carries; choose a key of ASCII."
        )
    return keys


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
