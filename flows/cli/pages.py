"""`evergreen fetch` and `evergreen pages`: the archive of what reports cite."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.hints import PAGE_COUNTS
from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import end
from flows.cli.warehouse import existing_warehouse
from flows.display.console import ANSWERS, REMARKS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.references import print_references
from flows.run import run_flow
from tasks.archive.export import write_export
from tasks.configuration.web import load_web
from tasks.editions.names import UnknownName, check_known, check_reported
from tasks.extraction.urls import normalise_url
from tasks.imports.walls import find_walls
from tasks.judges.registry import judge as check_judge
from tasks.planning.outcomes import fetch_outcome, read_outcome
from tasks.warehouse.location import DEFAULT, Location
from tasks.warehouse.page_store import PageStore, pages_folder
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.reading import Reading, reading
from tasks.warehouse.store import Readable

EditionOption = Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")]
FETCHES = """
SELECT source, asked_url, outcome, http_status, final_url, redirects, n_bytes, tries, error,
    fetched_at, round(seconds, 2) AS seconds, headers, sha
FROM fetches WHERE edition = $1 AND url = $2 ORDER BY fetched_at
"""
REFUSED = """
SELECT count(*) OVER () AS n, p.url, p.error
FROM pages AS p WHERE p.edition = $1 AND p.status = 'refused' ORDER BY p.url LIMIT 1
"""
IN_VAIN = """
SELECT count(*) FROM pages AS p
WHERE p.edition = $1 AND p.status <> 'ok'
    AND p.url IN (SELECT c.url FROM citations AS c WHERE c.edition = $1)
"""
SHOWN_CHARACTERS = 3000


def fetch(
    edition: EditionOption,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="Only what this one's reports cite; may be given again."),
    ] = None,
    fallback: Annotated[
        list[str] | None,
        typer.Option(
            "--fallback",
            help="Another way to pages that do not come: jina, wayback; `none` for none. Those of "
            "configs/web.yaml if not given.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also ask for pages that were asked for in vain.")
    ] = False,
    extractor: Annotated[
        str | None,
        typer.Option("--extractor", help="A judge that extracts the claims nobody has."),
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Fetch every page that an edition's reports cite, once, and keep it for ever.

    Interrupted or killed, the same command goes on. `evergreen evaluate` judges by what is here.
    """
    ways = None if fallback is None else _ways(fallback)
    if extractor is not None:
        check_judge(extractor)
    with existing_warehouse(warehouse, edition) as store:
        check_reported(store, edition, agent or ())
        done = fetch_outcome(store, edition, agent or (), ways, extractor, again=again)
    if not load_web().named_operator():
        remark(
            "Nobody is named in the User-Agent; say whom site owners can write to: "
            "EVERGREEN_OPERATOR, or `operator` in configs/web.yaml.",
            style="yellow",
        )
    complete, outcome = run_flow(
        "fetch",
        {
            "edition": edition, "agents": agent, "fallbacks": ways, "again": again,
            "extractor": extractor, "warehouse": str(warehouse),
        },
        done,
    )  # fmt: skip
    with reading(warehouse) as source:
        counted = source.frame(PAGE_COUNTS, [edition])
        if form is not Format.JSON:
            print_frame(counted, form)
        _say_in_vain(source, edition)
    end(complete, outcome, form, pages=counted)
    remark(f"Next: evergreen evaluate --edition {edition}")


def counts(
    edition: EditionOption, form: Shown = Format.TABLE, warehouse: WarehouseAt = DEFAULT
) -> None:
    """What became of the cited pages, by status and by the way they came."""
    with _reading(warehouse, edition) as source:
        print_frame(source.frame(PAGE_COUNTS, [edition]), form)


def references(
    edition: EditionOption,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose verdicts; the default judge's.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Per agent: claims that cite nothing, whose pages did not come, and what the others said."""
    with _reading(warehouse, edition) as source:
        print_references(source, edition, judge, form)


def show(
    url: Annotated[str, typer.Argument(help="A cited address, in any spelling.")],
    edition: EditionOption,
    whole: Annotated[bool, typer.Option("--whole", help="All of its text.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Its bytes as they came, to standard output.")
    ] = False,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """One page of the archive: how it was had, and what it says."""
    with _reading(warehouse, edition) as source:
        key = _key(url)
        page = source.frame(
            "SELECT * FROM pages WHERE edition = $1 AND url = $2", [edition, key]
        ).to_dicts()
        fetches = source.frame(FETCHES, [edition, key]).to_dicts()
    if not page and not fetches:
        raise UnknownName(
            f"{url} is not in the archive of {edition} (as {key}). If a report cites it: "
            f"`evergreen fetch --edition {edition}`."
        )
    if raw:
        _print_bytes(warehouse, url, fetches)
        return
    text: str = page[0].pop("text") or "" if page else ""
    for record in [*page, *fetches]:
        _print_record(record)
    if text:
        shown = text if whole else text[:SHOWN_CHARACTERS]
        ANSWERS.print(shown, markup=False, highlight=False, soft_wrap=True)
        if len(shown) < len(text):
            remark(f"({len(text) - len(shown):,} characters more: --whole)")


def export(
    edition: EditionOption,
    to: Annotated[
        Path, typer.Option("--to", help="A file: NAME.warc.gz, or NAME.jsonl.gz with texts only.")
    ],
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Write an edition's archive as one file: WARC with bytes and texts, or texts alone."""
    if not to.name.endswith((".warc.gz", ".jsonl.gz")):
        raise typer.BadParameter("give a name that ends in .warc.gz or .jsonl.gz", param_hint="to")
    with _reading(warehouse, edition) as source:
        try:
            n = write_export(source, PageStore(pages_folder(warehouse)), edition, to)
        except OSError as error:
            raise typer.BadParameter(
                f"{to} cannot be written: {error.strerror or error}", param_hint="to"
            ) from None
    remark(f"{to}: {n:,} pages, {to.stat().st_size / 1e6:,.1f} MB.")


def read(edition: EditionOption, warehouse: WarehouseAt = DEFAULT) -> None:
    """Take the text out of all fetched pages anew, after a change of the reader; fetches nothing.

    Cells whose pages say something else now are judged again by the next evaluation.
    """
    with existing_warehouse(warehouse, edition) as store:
        done = read_outcome(store, edition)
    complete, outcome = run_flow("read", {"edition": edition, "warehouse": str(warehouse)}, done)
    end(complete, outcome)


def walls(
    edition: EditionOption, form: Shown = Format.TABLE, warehouse: WarehouseAt = DEFAULT
) -> None:
    """Look at the texts that a published edition brought as at those that we fetch: tests for
    robots and the like are no pages. Nothing is asked; doing it again changes nothing."""
    with existing_warehouse(warehouse, edition) as store:
        with REMARKS.status("Reading the published texts …"):
            n = find_walls(store, edition)
        print_frame(store.frame(PAGE_COUNTS, [edition]), form)
    following = f"Next: evergreen evaluate --edition {edition}" if n else "Nothing has changed."
    remark(f"{n:,} pages have another status now. {following}")


def _say_in_vain(source: Readable, edition: str) -> None:
    """Why pages did not come, where a person may change that."""
    refused = source.frame(REFUSED, [edition]).to_dicts()
    if refused:
        of = refused[0]
        remark(
            f"Refused: {of['n']:,} pages, such as {of['url']}: {of['error']}. (For test servers "
            "of your own: `allowed.hosts` in configs/web.yaml.)",
            style="yellow",
        )
    in_vain = source.frame(IN_VAIN, [edition]).item()
    if in_vain:
        remark(
            f"Pages that did not come: {in_vain:,}; `evergreen pages show URL --edition {edition}` "
            "says why, `fetch --again` asks for them once more.",
        )


def _key(url: str) -> str:
    """The name under which a page is archived."""
    key = normalise_url(url) or normalise_url(f"https://{url}")
    if key is None:
        raise typer.BadParameter(
            f"{url!r} is no address that a citation can have: http or https, and a host with a "
            "dot in its name.", param_hint="URL",
        )  # fmt: skip
    return key


def _ways(named: Sequence[str]) -> list[FetchSource]:
    ways: dict[str, FetchSource] = {"jina": "jina", "wayback": "wayback"}
    wanted = [way for way in dict.fromkeys(named) if way != "none"]
    if unknown := sorted(set(wanted) - set(ways)):
        raise typer.BadParameter(
            f"{unknown[0]!r} is no other way; there are jina and wayback.", param_hint="--fallback"
        )
    return [ways[way] for way in wanted]


@contextmanager
def _reading(warehouse: Location, edition: str) -> Iterator[Reading]:
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        check_known(source, edition)
        yield source


def _print_record(record: dict[str, Any]) -> None:
    for name, value in record.items():
        if value not in (None, "", "[]", "{}") and name not in ("edition", "text_sha"):
            ANSWERS.print(f"{name:<13} {value}", markup=False, highlight=False, soft_wrap=True)
    ANSWERS.print()


def _print_bytes(warehouse: Location, url: str, fetches: Sequence[dict[str, Any]]) -> None:
    shas = [fetch["sha"] for fetch in fetches if fetch["sha"]]
    if not shas:
        raise UnknownName(f"{url}: nobody has its bytes; only its text, or nothing, came.")
    sys.stdout.buffer.write(PageStore(pages_folder(warehouse)).get(shas[0]))
