"""`evergreen fetch` and `evergreen pages`: the archive of cited pages."""

import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from flows.cli.hints import describe_next_step
from flows.cli.options import EditionOption, FormatOption, WarehouseOption, takes
from flows.cli.output import print_outcome, refuse_unwritable
from flows.cli.permission import ask_permission
from flows.cli.warehouse import open_existing_warehouse, open_to_read
from flows.display.console import STDERR, STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.references import print_references
from flows.run import run_flow
from tasks.archive.export import write_export
from tasks.archive.pending import PAGE_COUNTS
from tasks.base import format_count
from tasks.configuration.web import load_web
from tasks.editions.names import UnknownName, check_reports
from tasks.extraction.urls import normalise_url
from tasks.imports.wlc import mark_walls
from tasks.planning.options import FetchOptions, ReadOptions
from tasks.planning.permission import describe_extraction
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.location import DEFAULT_LOCATION, Location
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import Readable

FETCHES = """
SELECT source, asked_url, outcome, http_status, final_url, redirects, n_bytes, tries, error,
    fetched_at, round(seconds, 2) AS seconds, headers, sha
FROM fetches WHERE edition = $1 AND url = $2 ORDER BY fetched_at
"""
ABSENT = """
SELECT state AS existed, reason, evidence, checked_at
FROM absent_pages WHERE edition = $1 AND url = $2
"""
REFUSED_PAGES = """
SELECT count(*) OVER () AS n, p.url, p.error
FROM pages AS p WHERE p.edition = $1 AND p.status = 'refused' ORDER BY p.url LIMIT 1
"""
FAILED_PAGES = """
SELECT count(*) OVER () AS n, p.url FROM pages AS p
WHERE p.edition = $1 AND p.status <> 'ok' AND coalesce(p.source, 'published') <> 'published'
    AND p.url IN (SELECT c.url FROM citations AS c WHERE c.edition = $1) ORDER BY p.url LIMIT 1
"""
"""Pages that Evergreen fetched itself: what failed before an edition was published, failed."""
MAX_CHARACTERS = 3000


@takes(
    FetchOptions,
    edition=EditionOption,
    agents=typer.Option(
        "--agent", help="Only the pages that this agent's reports cite; may be repeated."
    ),
    fallback=...,
    again=typer.Option("--again", help="Retry pages that failed before."),
    extractor=typer.Option(
        "--extractor",
        help="Who extracts claims that nobody has extracted: a judge, or `offline`; the default "
        "judge if not given and it calls a model.",
    ),
)
def fetch(
    options: FetchOptions,
    *,
    fallback: Annotated[
        list[str] | None,
        typer.Option(
            metavar="jina|wayback|none",
            help="A fallback for pages that fail: jina, wayback, or `none`. Those of "
            "configs/web.yaml if not given.",
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Fetch every page that an edition's reports cite, once, into the archive.

    Run the same command again after an interruption, or when it says that pages are open (exit code
    1). `evergreen evaluate` judges by these pages.
    """
    if fallback is not None:
        options = options.model_copy(update={"fallbacks": _parse_fallbacks(fallback)})
    edition = options.edition
    with open_existing_warehouse(warehouse, edition) as store:
        check_reports(store, edition, options.agents or ())
        plan = options.plan(store)
        if said := describe_extraction(plan, None):
            options = options.model_copy(
                update={"extractor": ask_permission(said, plan.selection.judge, options.extractor)}
            )
            plan = options.plan(store)
        if not load_web().get_operator():
            print_message(
                "The User-Agent names no contact for site owners; set EVERGREEN_OPERATOR, or "
                "`operator` in configs/web.yaml.",
                style="yellow",
            )
        complete, outcome = run_flow("fetch", options, options.find_outcome(plan), plan)
    with open_for_reading(warehouse) as source:
        counted = source.frame(PAGE_COUNTS, [edition])
        if form is not Format.JSON:
            print_frame(counted, form)
        _print_failed_pages(source, edition, again=options.again)
        next_step = describe_next_step(source, edition)
    print_outcome(complete, outcome, form, {"pages": counted}, next_step)


def counts(
    edition: EditionOption,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Count the cited pages by status and by source."""
    with open_to_read(warehouse, edition) as source:
        print_frame(source.frame(PAGE_COUNTS, [edition]), form)


def references(
    edition: EditionOption,
    judge: Annotated[
        str | None, typer.Option(help="The judge of the verdicts; the default judge if not given.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Count each agent's claims: uncited, without a page, and what the pages of the others say."""
    with open_to_read(warehouse, edition) as source:
        print_references(source, edition, judge, form)


def show(
    url: Annotated[str, typer.Argument(help="A cited URL, in any spelling.")],
    edition: EditionOption,
    whole: Annotated[bool, typer.Option("--whole", help="Print its whole text.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Write its bytes as fetched to standard output.")
    ] = False,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show one page of the archive: its fetches and its text."""
    with open_to_read(warehouse, edition) as source:
        key = _normalise_page_url(url)
        page = source.frame(
            "SELECT * FROM pages WHERE edition = $1 AND url = $2", [edition, key]
        ).to_dicts()
        fetches = source.frame(FETCHES, [edition, key]).to_dicts()
        absent = source.frame(ABSENT, [edition, key]).to_dicts()
    if not page and not fetches:
        raise UnknownName(
            f"{url} is not in the archive of {edition} (as {key}): nobody cites it, or it could "
            f"not be fetched yet. If a report cites it: `evergreen fetch --edition {edition}`."
        )
    if raw:
        _print_bytes(warehouse, url, fetches)
        return
    text: str = page[0].pop("text") or "" if page else ""
    for record in [*page, *fetches, *absent]:
        _print_record(record)
    if text:
        shown = text if whole else text[:MAX_CHARACTERS]
        print_result(shown, wrap=False)
        if len(shown) < len(text):
            print_message(f"({format_count(len(text) - len(shown), 'character')} more: --whole)")


def export(
    edition: EditionOption,
    output: Annotated[
        Path,
        typer.Option(help="The file to write: NAME.warc.gz, or NAME.jsonl.gz with texts only."),
    ],
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Write an edition's archive as one file: WARC with bytes and texts, or texts alone."""
    if not output.name.endswith((".warc.gz", ".jsonl.gz")):
        raise typer.BadParameter(
            "give a name that ends in .warc.gz or .jsonl.gz", param_hint="--output"
        )
    with open_to_read(warehouse, edition) as source, refuse_unwritable(output, "--output"):
        n = write_export(source, PageStore(pages_folder(warehouse)), edition, output)
    print_message(f"{output}: {format_count(n, 'page')}, {output.stat().st_size / 1e6:,.1f} MB.")


@takes(ReadOptions, edition=EditionOption)
def read(options: ReadOptions, *, warehouse: WarehouseOption = DEFAULT_LOCATION) -> None:
    """Extract the texts of all fetched pages again, after a change of the reader; fetches nothing.

    The next evaluation judges cells again whose pages' texts have changed.
    """
    with open_existing_warehouse(warehouse, options.edition) as store:
        plan = options.plan(store)
        complete, outcome = run_flow("read", options, options.find_outcome(plan), plan)
    print_outcome(complete, outcome)


def walls(
    edition: EditionOption,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Find walls, such as bot checks, among the page texts that came with a published edition.
    Sends no request; idempotent."""
    with open_existing_warehouse(warehouse, edition) as store:
        with STDERR.status("Reading the published texts …"):
            n = mark_walls(store, edition)
        print_frame(store.frame(PAGE_COUNTS, [edition]), form)
    next_step = f"Next: evergreen evaluate --edition {edition}" if n else "Nothing has changed."
    print_message(f"New status: {format_count(n, 'page')}. {next_step}")


def _print_failed_pages(source: Readable, edition: str, *, again: bool) -> None:
    """Print why pages failed, where a person may change that."""
    refused = source.frame(REFUSED_PAGES, [edition]).to_dicts()
    if refused:
        first = refused[0]
        print_message(
            f"Refused: {format_count(first['n'], 'page')}, such as {first['url']}: "
            f"{first['error']}. (For your own test servers: `allowed.hosts` in configs/web.yaml.)",
            style="yellow",
        )
    for n, url in source.frame(FAILED_PAGES, [edition]).rows():
        print_message(
            f"Pages that failed: {n:,}; `evergreen pages show {quote(url)} --edition {edition}` "
            f"says why{'' if again else ', `fetch --again` retries them'}."
        )


def _normalise_page_url(url: str) -> str:
    """Return the normalised URL under which a page is archived."""
    key = normalise_url(url) or normalise_url(f"https://{url}")
    if key is None:
        raise typer.BadParameter(
            f"{url!r} is no URL that a citation can have: expected http or https, and a host with "
            "a dot in its name.",
            param_hint="URL",
        )
    return key


def _parse_fallbacks(named: Sequence[str]) -> list[FetchSource]:
    ways: dict[str, FetchSource] = {"jina": "jina", "wayback": "wayback"}
    wanted = [way for way in dict.fromkeys(named) if way != "none"]
    if unknown := sorted(set(wanted) - set(ways)):
        raise typer.BadParameter(
            f"{unknown[0]!r} is no fallback; choose jina or wayback.", param_hint="--fallback"
        )
    return [ways[way] for way in wanted]


def _print_record(record: dict[str, Any]) -> None:
    for name, value in record.items():
        if value not in (None, "", "[]", "{}") and name not in ("edition", "text_sha"):
            print_result(f"{name:<13} {value}", wrap=False)
    STDOUT.print()


def _print_bytes(warehouse: Location, url: str, fetches: Sequence[dict[str, Any]]) -> None:
    shas = [fetch["sha"] for fetch in fetches if fetch["sha"]]
    if not shas:
        raise UnknownName(f"{url}: its bytes are not archived; only its text, or nothing, came.")
    if sys.stdout.isatty():  # whoever made the page could write anything to the terminal
        raise typer.BadParameter(
            "expected a file or a pipe, not a terminal: add `> FILE`.", param_hint="--raw"
        )
    sys.stdout.buffer.write(PageStore(pages_folder(warehouse)).get(shas[0]))
