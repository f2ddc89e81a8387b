"""Commands about editions: collect, assign, and what a frozen edition is made of."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import end
from flows.cli.warehouse import existing_warehouse
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.run import run_flow
from tasks.benchmarks.errors import EditionError
from tasks.collection.request import CollectionRequest, begin, forget
from tasks.configuration.models import load_judges
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.manifest import MADE, differences, manifest_sha, stored_manifest, verify
from tasks.judging.preconditions import check_judges
from tasks.pending.questions import inverter_named
from tasks.planning.outcomes import assign_outcome, collect_outcome
from tasks.protocols.registry import protocol as protocol_named
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import open_warehouse

Name = Annotated[str, typer.Option("--edition", help="Its name, e.g. 2026-11.")]
Which = Annotated[str, typer.Argument(help="A frozen edition.")]
DAYS = ["%Y-%m-%d"]
QUESTIONS = """
SELECT CASE state WHEN 'rejected' THEN reason ELSE state END AS became, count(*) AS questions,
    round(avg(closed_book_f1), 3) AS closed_book_f1, round(avg(n_queries), 1) AS queries,
    round(avg(n_units), 1) AS units, round(avg(minutes), 0) AS minutes
FROM questions WHERE edition = $1 GROUP BY ALL ORDER BY questions DESC, became
"""
QUESTIONS_READ = "question, category, reason, closed_book_f1 FROM questions"
LISTED = """
SELECT e.edition, e.source, e.title,
    (SELECT count(*) FROM articles AS a WHERE a.edition = e.edition) AS articles,
    (SELECT count(*) FROM assignments AS s WHERE s.edition = e.edition) AS assignments,
    (SELECT count(s.prompt) FROM assignments AS s WHERE s.edition = e.edition) AS prompts,
    strftime(c.frozen_at, '%Y-%m-%d %H:%M') AS frozen, left(c.manifest_sha, 12) AS manifest
FROM editions AS e LEFT JOIN collections AS c USING (edition)
UNION ALL
SELECT c.edition, 'wikipedia', 'not frozen yet: collect it to the end, or drop it', 0, 0,
    0, NULL, NULL
FROM collections AS c WHERE c.frozen_at IS NULL
ORDER BY edition
"""


def collect(
    name: Name,
    since: Annotated[
        datetime | None,
        typer.Option(
            "--from",
            formats=DAYS,
            help="First day (UTC) of creation; six months before --to if not given.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option("--to", formats=DAYS, help="The day after the last; today if not given."),
    ] = None,
    articles: Annotated[
        int | None, typer.Option(min=1, help="How many to choose; 100 if not given.")
    ] = None,
    wiki_api: Annotated[
        str | None,
        typer.Option("--wiki-api", help="Another wiki's api.php; the English Wikipedia's if not."),
    ] = None,
    spread: Annotated[
        bool | None,
        typer.Option("--spread/--no-spread", help="Choose over the categories in turn."),
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Make an edition of new Good Articles and freeze it; a frozen one is verified instead.

    Interrupted, it goes on where it was: run it again with the same name.
    """
    settings = load_wikipedia()
    settings.named_operator()
    asked = CollectionRequest(
        edition=name, since=_utc(since), until=_utc(until), articles=articles, api_url=wiki_api,
        spread=spread,
    )  # fmt: skip
    with open_warehouse(warehouse, on_wait=remark) as store:
        collection = begin(store, asked, settings, utc_now())  # what is wrong is said at once
        complete, outcome = run_flow(
            "collect",
            {
                "edition": name,
                "created_from": _utc(since),
                "created_to": _utc(until),
                "articles": articles,
                "wiki_api": wiki_api,
                "spread": spread,
                "warehouse": store.url,
            },
            collect_outcome(store, collection),
        )
        if complete and form is not Format.JSON:
            _describe(store, name, form)
    end(complete, outcome, form)
    remark(f"Next: evergreen assign --edition {name} --protocol wiki_writing")


def assign(
    name: Name,
    protocol: Annotated[
        str, typer.Option("--protocol", help="What the reports will be judged by.")
    ] = "wiki_writing",
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="What makes questions (claim_discovery): a model."),
    ] = None,
    articles: Annotated[
        int | None,
        typer.Option(min=1, help="Questions of so many articles, drawn by lot; all if not given."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0.0, help="USD this run may spend at most.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask models through their batch APIs.")
    ] = False,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Make what agents are asked, kept for good: to write each article, or questions out of it.

    Run it again to go on; what is decided is neither asked nor paid for again.
    """
    asks_questions = "find_claims" in protocol_named(protocol).kinds
    if asks_questions:
        chosen = judge or load_judges().default
        inverter_named(chosen)
        check_judges([chosen], budget, batch=batch)
    else:
        _refuse({"--judge": judge, "--articles": articles, "--budget": budget, "--batch": batch})
    with existing_warehouse(warehouse, name) as store:
        complete, outcome = run_flow(
            "assign",
            {
                "edition": name,
                "protocol": protocol,
                "judge": judge,
                "articles": articles,
                "budget_usd": budget,
                "batch": batch,
                "warehouse": store.url,
            },
            assign_outcome(store, name, protocol, judge or load_judges().default, articles),
        )
        became = store.frame(QUESTIONS, [name])
    if asks_questions and form is not Format.JSON:
        print_frame(became, form)
    what = QUESTIONS_READ if asks_questions else "prompt FROM assignments"
    remark(
        f"Read them: evergreen sql \"SELECT {what} WHERE edition = '{name}' LIMIT 3\" "
        "--format json",
    )
    end(complete, outcome, form, **({"questions": became} if asks_questions else {}))


def _refuse(options: dict[str, object]) -> None:
    """Raise typer.BadParameter for options that assignments to write do not have."""
    if given := [option for option, value in options.items() if value]:
        raise typer.BadParameter(
            f"{', '.join(given)}: only --protocol claim_discovery has questions to make."
        )


def list_editions(form: Shown = Format.TABLE, warehouse: WarehouseAt = DEFAULT) -> None:
    """The editions there are, collected and imported."""
    with reading(warehouse) as source:
        _notice(source.notice)
        print_frame(source.frame(LISTED), form)


def show(name: Which, form: Shown = Format.TABLE, warehouse: WarehouseAt = DEFAULT) -> None:
    """What a frozen edition consists of; JSON is its whole manifest."""
    with reading(warehouse) as source:
        _notice(source.notice)
        _describe(source, name, form)


def verify_edition(name: Which, warehouse: WarehouseAt = DEFAULT) -> None:
    """Compare every text, link and decision of a frozen edition with its manifest."""
    with existing_warehouse(warehouse) as store:
        problems = verify(store, name)
        document = stored_manifest(store, name)
    if problems:
        listed = "\n  ".join(problems)
        raise EditionError(f"{name} is not as it was frozen:\n  {listed}")
    ANSWERS.print(
        f"{name} is as it was frozen: {len(document['articles'])} articles, manifest "
        f"{manifest_sha(json.dumps(document))}",
        markup=False,
        highlight=False,
    )


def drop(name: Which, warehouse: WarehouseAt = DEFAULT) -> None:
    """Forget a collection that is not frozen, so that its name is free again."""
    with existing_warehouse(warehouse) as store:
        forget(store, name)
    ANSWERS.print(f"{name} is forgotten: what was collected for it is gone.", markup=False)


def diff(
    first: Which,
    second: Annotated[str, typer.Argument(help="Another frozen edition.")],
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """What two frozen editions have that the other has not. Exit code 1 if they differ."""
    with reading(warehouse) as source:
        _notice(source.notice)
        found = differences(stored_manifest(source, first), stored_manifest(source, second))
    for line in found:
        ANSWERS.print(line, markup=False, highlight=False)
    if found:
        raise typer.Exit(1)
    ANSWERS.print(f"{first} and {second} have the same content.", markup=False)


def _describe(source: Any, name: str, form: Format) -> None:
    """Its articles with the numbers they were chosen by, and what became of the others."""
    document = stored_manifest(source, name)
    if form is Format.JSON:
        print(json.dumps(document, ensure_ascii=False, indent=1))
        return
    articles = source.frame(
        "SELECT r.place, r.title, strftime(r.created_at, '%Y-%m-%d') AS created, r.category, "
        "r.reference_urls AS urls, r.headings, r.bytes, a.views "
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
    ANSWERS.print(
        f"Candidates: {counts}.\nWiki: {document['wiki']}, snapshot of "
        f"{document[MADE]['snapshot_at'][:16].replace('T', ' ')} UTC, created "
        f"{document['created'][0][:10]} to before {document['created'][1][:10]}. "
        f"Manifest {manifest_sha(json.dumps(document))}",
        markup=False,
        highlight=False,
    )


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day else None


def _notice(text: str | None) -> None:
    if text:
        remark(text, style="yellow")
