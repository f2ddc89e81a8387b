"""`evergreen collect`, `assign` and `edition`: make, show and compare editions."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from flows.cli.options import (
    DAYS,
    BatchOption,
    BudgetOption,
    EditionOption,
    FormatOption,
    WarehouseOption,
    takes,
)
from flows.cli.output import print_outcome
from flows.cli.warehouse import open_existing_warehouse, open_to_read
from flows.display.console import print_message, print_result
from flows.display.formats import Format, format_json
from flows.display.frame import print_frame
from flows.run import run_flow
from tasks.base import format_count
from tasks.benchmarks.errors import EditionError
from tasks.collection.request import CollectionRequest, begin_collection, forget_collection
from tasks.configuration.models import load_judges
from tasks.configuration.wikipedia import WikipediaSettings, load_wikipedia
from tasks.editions.manifest import (
    MADE,
    compare_manifests,
    confirm_unchanged,
    find_changes,
    hash_manifest,
    load_edition_manifest,
)
from tasks.editions.prompts import assign_writing, describe_assigned
from tasks.judging.session import check_judges
from tasks.planning.edition_options import AssignOptions, CollectOptions
from tasks.questions import get_inverter
from tasks.warehouse.location import DEFAULT_LOCATION, DuckDBFile, Location, parse_location
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Readable, Warehouse, open_warehouse

EditionArgument = Annotated[str, typer.Argument(metavar="EDITION", help="A frozen edition.")]
QUESTIONS = """
SELECT CASE state WHEN 'rejected' THEN reason ELSE state END AS became, count(*) AS questions,
    round(avg(closed_book_f1), 3) AS closed_book_f1, round(avg(n_queries), 1) AS queries,
    round(avg(n_units), 1) AS units, round(avg(minutes), 0) AS minutes
FROM questions WHERE edition = $1 GROUP BY ALL ORDER BY questions DESC, became
"""
QUESTION_COLUMNS = "question, category, reason, closed_book_f1 FROM questions"
EDITION_LIST = """
SELECT e.edition, e.source, CASE WHEN c.trial THEN 'trial: ' ELSE '' END || e.title AS title,
    (SELECT count(*) FROM articles AS a WHERE a.edition = e.edition) AS articles,
    (SELECT count(DISTINCT h.article) FROM shared_articles AS h WHERE h.edition = e.edition)
        AS shared,
    (SELECT count(*) FROM assignments AS s WHERE s.edition = e.edition) AS assignments,
    (SELECT count(s.prompt) FROM assignments AS s WHERE s.edition = e.edition) AS prompts,
    strftime(c.frozen_at, '%Y-%m-%d %H:%M') AS frozen, left(c.manifest_sha, 12) AS manifest
FROM editions AS e LEFT JOIN collections AS c USING (edition)
UNION ALL
SELECT c.edition, 'wikipedia', 'not frozen yet: collect it to the end, or drop it', 0, 0, 0,
    0, NULL, NULL
FROM collections AS c WHERE c.frozen_at IS NULL
ORDER BY edition
"""


@takes(
    CollectOptions,
    edition=typer.Option(
        "--edition",
        help="Its name.",
        default_factory=lambda: f"{utc_now():%Y-%m}",
        show_default="this month, such as 2026-11",
    ),
    created_from=typer.Option(
        "--since",
        formats=DAYS,
        help="First day (UTC) of creation; six months before --until if not given.",
    ),
    created_to=typer.Option(
        "--until", formats=DAYS, help="The day after the last; today if not given."
    ),
    articles=typer.Option(
        "--articles", min=1, help="How many to choose at most; 100 if not given."
    ),
    wiki_api=typer.Option(
        "--wiki-api", help="Another wiki's api.php; English Wikipedia if not given."
    ),
    spread=typer.Option("--spread/--no-spread", help="Choose from the categories in turn."),
    trial=typer.Option(
        "--not-counted",
        help="Make a trial edition: it may share articles with others, and does not keep them from "
        "any.",
    ),
)
def collect(
    options: CollectOptions,
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Ask the wiki how many articles could be chosen; keep nothing."
        ),
    ] = False,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Make and freeze an edition of new Good Articles; a frozen one is verified instead.

    An article is in one edition only: those of other editions are left out. After an interruption,
    run it again with the same name: it resumes where it was.
    """
    settings = load_wikipedia()
    settings.get_operator()
    if dry_run:
        _print_choice(warehouse, options.request, settings, form)
        return
    with open_warehouse(warehouse, on_wait=print_message) as store:
        collection = begin_collection(store, options.request, settings, utc_now())  # fail early
        plan = options.plan(store)
        done = confirm_unchanged(store, collection) if collection.frozen_at else None
        complete, outcome = run_flow("collect", options, done, plan)
        if complete and form is not Format.JSON:
            _print_edition(store, options.edition, form)
    print_outcome(complete, outcome, form)
    print_message(f"Next: evergreen assign --edition {options.edition} --protocol wiki_writing")


def _print_choice(
    warehouse: Location, asked: CollectionRequest, settings: WikipediaSettings, form: Format
) -> None:
    """Print how many articles a collection could choose from. No warehouse is created."""
    from tasks.collection.listing import count_choice  # loads the wiki's client

    file = parse_location(warehouse)
    is_new = isinstance(file, DuckDBFile) and not file.path.exists()
    with TemporaryDirectory() as folder:
        where = Path(folder) / "empty.duckdb" if is_new else warehouse
        with open_warehouse(where, on_wait=print_message) as store:
            found = asyncio.run(count_choice(store, asked, settings, utc_now(), print_message))
    print_result(format_json(found._asdict()) if form is Format.JSON else found.describe())


@takes(
    AssignOptions,
    edition=EditionOption,
    protocol=typer.Option("--protocol", help="The protocol that will judge the reports."),
    judge=typer.Option(
        "--judge", help="The judge that makes questions (claim_discovery); a model."
    ),
    articles=typer.Option(
        "--articles", min=1, help="Questions for this many random articles; all if not given."
    ),
    budget_usd=BudgetOption,
    batch=BatchOption,
)
def assign(
    options: AssignOptions,
    *,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Make an edition's assignments: to write each article, or to answer questions about it.

    Assignments to write take no time and no run in Prefect. After an interruption, run it again to
    resume; nothing is asked or paid for twice.
    """
    name, asks_questions = options.edition, options.asks_questions
    if asks_questions:
        judge = options.judge or load_judges().default
        get_inverter(judge)
        check_judges([judge], options.budget_usd, batch=options.batch, with_fallbacks=False)
    else:
        _reject_question_options(options)
    with open_existing_warehouse(warehouse, name) as store:
        plan = options.plan(store)
        done = options.find_outcome(plan)
        if asks_questions or done:
            complete, outcome = run_flow("assign", options, done, plan)
        else:
            complete, outcome = True, asyncio.run(_assign_writing(store, name))
        became = store.frame(QUESTIONS, [name])
    if asks_questions and form is not Format.JSON:
        print_frame(became, form)
    what = QUESTION_COLUMNS if asks_questions else "prompt FROM assignments"
    print_message(
        f"See them: evergreen sql \"SELECT {what} WHERE edition = '{name}' LIMIT 3\" --format json",
    )
    print_outcome(complete, outcome, form, {"questions": became} if asks_questions else {})


async def _assign_writing(store: Warehouse, edition: str) -> str:
    """Make the assignments to write an article, and say how many."""
    async with hold_lock(store.locks, f"assignments of {edition}", print_message):
        new = assign_writing(store, edition)
    return f"Completed: {describe_assigned(store, edition, new)}"


def _reject_question_options(options: AssignOptions) -> None:
    """Raise typer.BadParameter for options that writing assignments do not have."""
    values = {
        "--judge": options.judge,
        "--articles": options.articles,
        "--budget": options.budget_usd,
        "--batch": options.batch,
    }
    if given := [option for option, value in values.items() if value]:
        raise typer.BadParameter(
            f"{', '.join(given)}: only with --protocol claim_discovery, which makes questions."
        )


def list_editions(
    form: FormatOption = Format.TABLE, warehouse: WarehouseOption = DEFAULT_LOCATION
) -> None:
    """List the editions, collected and imported."""
    with open_to_read(warehouse) as source:
        print_frame(source.frame(EDITION_LIST), form)


def show(
    name: EditionArgument,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show a frozen edition; JSON is its whole manifest."""
    with open_to_read(warehouse) as source:
        _print_edition(source, name, form)


def verify_edition(name: EditionArgument, warehouse: WarehouseOption = DEFAULT_LOCATION) -> None:
    """Compare every text, link and decision of a frozen edition with its manifest."""
    with open_existing_warehouse(warehouse) as store:
        problems = find_changes(store, name)
        document = load_edition_manifest(store, name)
    if problems:
        listed = "\n  ".join(problems)
        raise EditionError(f"{name} has changed since it was frozen:\n  {listed}")
    print_result(
        f"{name} is unchanged since it was frozen: "
        f"{format_count(len(document['articles']), 'article')}, manifest "
        f"{hash_manifest(json.dumps(document))}"
    )


def drop(name: EditionArgument, warehouse: WarehouseOption = DEFAULT_LOCATION) -> None:
    """Drop a collection that is not frozen, so that its name is free again."""
    with open_existing_warehouse(warehouse) as store:
        forget_collection(store, name)
    print_result(f"{name} is dropped with all that was collected for it.")


def diff(
    first: EditionArgument,
    second: Annotated[str, typer.Argument(metavar="OTHER", help="Another frozen edition.")],
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show the differences of two frozen editions. Exit code 1 if they differ."""
    with open_to_read(warehouse) as source:
        before, after = (load_edition_manifest(source, each) for each in (first, second))
        found = compare_manifests(before, after)
    for line in found:
        print_result(line)
    if found:
        raise typer.Exit(1)
    print_result(f"{first} and {second} have the same content.")


def _print_edition(source: Readable, name: str, form: Format) -> None:
    """Print the articles with the numbers they were chosen by, and the decisions on the others."""
    document = load_edition_manifest(source, name)
    if form is Format.JSON:
        print(format_json(document))
        return
    articles = source.frame(
        "SELECT r.place, r.title, strftime(r.created_at, '%Y-%m-%d') AS created, r.category, "
        "r.is_leftover AS leftover, r.reference_urls AS urls, r.headings, r.bytes, a.views "
        "FROM candidate_ranking AS r JOIN articles AS a USING (edition, page_id) "
        "WHERE r.edition = $1 ORDER BY r.place",
        [name],
    )
    print_frame(articles, form)
    if form is Format.CSV:
        return
    decided = source.frame(
        "SELECT decision, count(*) AS n FROM candidates WHERE edition = $1 "
        "GROUP BY ALL ORDER BY n DESC, decision",
        [name],
    )
    counts = ", ".join(f"{n:,} {decision}" for decision, n in decided.iter_rows())
    trial = "Trial edition. " if document.get("trial") else ""
    print_result(
        f"{trial}Candidates: {counts}.\nWiki: {document['wiki']}, snapshot of "
        f"{document[MADE]['snapshot_at'][:16].replace('T', ' ')} UTC, created "
        f"{document['created'][0][:10]} to before {document['created'][1][:10]}. "
        f"Manifest {hash_manifest(json.dumps(document))}"
    )
