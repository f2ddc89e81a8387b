"""`evergreen sandbox`: serve archived pages to agents, and make a token for it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from flows.cli.options import WarehouseOption, make_edition_option
from flows.cli.sandbox_messages import (
    LimitedWarnings,
    check_served,
    print_addresses,
    print_log_line,
    warn_about_missing_bans,
    warn_about_open_access,
)
from flows.cli.warehouse import choose_edition
from flows.display.console import print_message, print_result, transient_progress
from tasks.base import format_count
from tasks.configuration.inversion import load_inversion
from tasks.configuration.sandbox import Ranking, SandboxSettings, load_sandbox
from tasks.configuration.web import load_web
from tasks.editions.names import check_edition
from tasks.sandbox.page import SandboxError
from tasks.warehouse.location import DEFAULT_LOCATION, Location
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.snapshot import find_latest, latest_snapshot

if TYPE_CHECKING:
    from tasks.sandbox.access import AccessRules
    from tasks.sandbox.source import PageSource
    from tasks.serving.gate import OwnNames

CorpusOption = Annotated[
    Path | None,
    typer.Option(
        "--corpus", help="Serve the pages of these JSONL or WARC files (a file or a folder)."
    ),
]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", help="Leave out pages from after this day (2025-11-30).")
]
OpenOption = Annotated[
    bool,
    typer.Option(
        "--open", help="Answer everybody without a token, for people at their own machine."
    ),
]
PagesEditionOption = Annotated[
    str | None,
    typer.Option(
        "--edition",
        help="The edition whose pages to serve; nobody gets what its assignments ban. The newest "
        "if neither it nor --corpus is given.",
    ),
]
RankingOption = Annotated[
    Ranking | None, typer.Option("--ranking", help="That of configs/sandbox.yaml if not given.")
]
ExportsOption = Annotated[
    Path | None,
    typer.Option(
        "--exports",
        help="Read the edition's last export from this folder, not from beside the warehouse.",
    ),
]
NameOption = Annotated[
    list[str] | None,
    typer.Option("--name", help="A name by which other machines call it; may be repeated."),
]
PerMinuteOption = Annotated[
    int | None, typer.Option("--per-minute", min=1, help="Requests per token or address.")
]
BuildOnlyOption = Annotated[
    bool, typer.Option("--build-only", help="Build or update the index, then exit.")
]
IndexOption = Annotated[
    Path | None,
    typer.Option("--index", help="Keep the index in this folder, not beside the warehouse."),
]


def sandbox(
    context: typer.Context,
    edition: PagesEditionOption = None,
    corpus: CorpusOption = None,
    exports: ExportsOption = None,
    index: IndexOption = None,
    as_of: AsOfOption = None,
    ranking: RankingOption = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    name: NameOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8100,
    open_to_all: OpenOption = False,
    per_minute: PerMinuteOption = None,
    log_queries: Annotated[bool, typer.Option("--log-queries", help="Print every query.")] = False,
    build_only: BuildOnlyOption = False,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Serve archived pages to agents: search and fetch, also as MCP tools.

    The index is built from the edition's last export, or from a corpus, and updated at each start.
    Pages that any assignment of the edition bans are served to nobody. Each request needs the token
    of a job, which `evergreen ask` gives to its agents; what it asks for is kept. With a corpus
    alone nothing is banned and there are no tokens, so --open is needed.
    """
    if context.invoked_subcommand:
        return
    # Imported here because the server takes a second to load.
    from tasks.sandbox.access import AccessRules
    from tasks.sandbox.service import open_socket
    from tasks.sandbox.source import PageSource, sandbox_folder
    from tasks.sandbox.tokens import find_token_key
    from tasks.serving.gate import is_loopback, serving_names

    if edition is None and corpus is None and exports is None:
        edition = choose_edition(warehouse)
    _check_given(edition, corpus, needs_token=not open_to_all and not build_only)
    settings = _load_settings(ranking, per_minute)
    snapshot = _find_snapshot(exports, warehouse, edition) if edition else None
    source = PageSource(edition=edition, snapshot=snapshot, corpus=corpus)
    parent = index or sandbox_folder(warehouse)
    served = AccessRules(
        name=source.name,
        edition=edition,
        ban=source.read_ban(),
        assignments=source.read_assignments(),
        as_of=_parse_day(as_of),
        token_key=None if open_to_all else find_token_key(parent),
    )
    listening = None if build_only else open_socket(host, port)  # fail before the long build
    folder = _build_or_exit(source, settings, parent)
    if listening is None:
        return
    if served.ban is None:
        warn_about_missing_bans()
    if served.token_key is None and not is_loopback(host):
        warn_about_open_access(host)
    names, on_query = serving_names(host, name or ()), print_log_line if log_queries else None
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_index(folder, served, settings, listening, names, on_query))
    print_message("Stopped.")


def sandbox_token(
    edition: Annotated[str, make_edition_option("The edition that the sandbox serves.")],
    assignment: Annotated[str, typer.Option(help="What the agent works on.")],
    agent: Annotated[str, typer.Option(help="Who will use it.")],
    hours: Annotated[
        float, typer.Option(min=0.01, max=24 * 30, help="How long it is valid.")
    ] = 24.0,
    index: Annotated[
        Path | None, typer.Option(help="The sandbox's --index, if it has one.")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Make a token for the sandbox, for an agent that Evergreen does not ask itself.

    `evergreen ask` makes its own. What the token asks for is kept under its edition, assignment and
    agent. The sandbox must have the same EVERGREEN_SANDBOX_KEY or, without one, the same warehouse.
    """
    from tasks.sandbox.source import sandbox_folder
    from tasks.sandbox.tokens import SandboxToken, find_token_key, issue_token

    claims = SandboxToken(
        edition=edition, assignment=assignment, agent=agent, job=f"manual-{uuid4().hex[:16]}"
    )
    key = find_token_key(index or sandbox_folder(warehouse))
    print_result(issue_token(key, claims, timedelta(hours=hours)), wrap=False)


def _check_given(edition: str | None, corpus: Path | None, needs_token: bool) -> None:
    if edition is None and corpus is None:
        raise typer.BadParameter("give --edition, --corpus, or both.")
    if edition is None and needs_token:
        raise typer.BadParameter(
            "only an edition's jobs have tokens. Give --open to answer everybody.",
            param_hint="--corpus",
        )


async def _serve_index(
    folder: Path,
    served: "AccessRules",
    settings: SandboxSettings,
    listening: socket,
    names: "OwnNames",
    on_query: Callable[[str], None] | None,
) -> None:
    """Serve until Ctrl-C. on_query: called with every query."""
    from tasks.sandbox.access import Sandbox
    from tasks.sandbox.search import open_index
    from tasks.sandbox.service import create_app, serve, server_url
    from tasks.sandbox.tokens import AskedStore

    store = AskedStore(folder.parent)
    sandbox = Sandbox(await open_index(folder, settings), served, settings, on_query, store)
    check_served(sandbox)
    address = server_url(listening)
    await serve(create_app(sandbox, names), listening, lambda: print_addresses(address, served))


def _build_or_exit(source: "PageSource", settings: SandboxSettings, parent: Path) -> Path:
    try:
        return asyncio.run(_build_index(source, settings, parent))
    except KeyboardInterrupt:
        print_message("Interrupted. The built part is kept; run again to resume.")
        raise typer.Exit(130) from None


async def _build_index(source: "PageSource", settings: SandboxSettings, parent: Path) -> Path:
    from tasks.sandbox.source import build_index

    began = time.monotonic()
    left_out, no_day = LimitedWarnings("left out", 5), LimitedWarnings("date not read", 1)
    try:
        with transient_progress() as bars:
            bar = bars.add_task("reading pages", total=source.count_pages())
            folder, built = await build_index(
                source,
                parent,
                settings,
                load_inversion(),
                load_web().reading,
                on_progress=lambda step, n: bars.update(bar, completed=n, description=step),
                on_skipped=left_out,
                on_bad_date=no_day,
                on_wait=lambda: print_message("Another process builds this index; waiting for it."),
            )
    finally:
        left_out.print()
        no_day.print()
    now = built.version
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    done = (
        f"{built.n_changed:,} new or changed, {built.n_removed:,} gone, "
        f"{time.monotonic() - began:.1f} s"
    )
    print_message(
        f"{source.name}: {format_count(now.n_pages, 'page')} in "
        f"{format_count(now.n_passages, 'passage')}, "
        f"{size / 2**20:.0f} MB ({done})",
    )
    print_message(f"Index      {folder}")
    return folder


def _load_settings(ranking: Ranking | None, per_minute: int | None) -> SandboxSettings:
    options = {"ranking": ranking, "per_minute": per_minute}
    return load_sandbox().model_copy(update={n: v for n, v in options.items() if v is not None})


def _find_snapshot(exports: Path | None, warehouse: Location, edition: str) -> Path:
    """Return the edition's last export.

    Raises:
        SandboxError: `exports` has none of this edition.
        WarehouseError: there is no warehouse.
        UnknownName: it has no such edition.
    """
    if exports is not None:
        exported = find_latest(exports, edition)
        if not exported.exists():
            raise SandboxError(
                f"{exported} does not exist: expected an export of {edition}, which each "
                "evaluation writes. Run `evergreen evaluate` first, or correct --exports."
            )
        return exported
    snapshot = latest_snapshot(warehouse, edition)
    if not snapshot.exists():
        with open_for_reading(warehouse) as source:
            check_edition(source, edition)
    return snapshot


def _parse_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter(f"--as-of: expected a day as 2025-11-30, not {text!r}.") from None
