"""What a refresh would do, ask and spend, step by step: read from the warehouse, nothing asked.

Prefect-free. What cannot be known beforehand (how many pages reports will cite) is None.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.benchmarks.errors import EditionError
from tasks.collection.request import begin
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.wikipedia import WikipediaSettings, load_wikipedia
from tasks.jobs.estimate import estimate_reports
from tasks.jobs.sessions import ask_of
from tasks.models.errors import ModelError
from tasks.pending.pages import unfetched
from tasks.pending.questions import inverter_named, pending_articles
from tasks.planning.judging import OnProgress, plan_judging
from tasks.planning.month import (
    Month,
    check_month,
    has_figures,
    has_pages,
    in_turn,
    searches_archive,
)
from tasks.planning.step import Expected, Planned, free, unknown
from tasks.processes.pool import HELPERS
from tasks.protocols.registry import protocol
from tasks.publishing.unchanged import is_published
from tasks.site.mark import UnwritableSite
from tasks.warehouse.collected import Collection
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, open_warehouse

PROMPTED = """
SELECT count(*) FROM assignments
WHERE edition = $1 AND kind = $2 AND prompt IS NOT NULL
"""


def plan_month(
    store: Warehouse, month: Month, on_progress: OnProgress = lambda n: None
) -> list[Planned]:
    """Every step of the month with what is left of it, in order."""
    collection = next(iter(store.rows(Collection, "edition = $1", [month.edition])), None)
    expected = _expected(store, month, collection)
    asks = list(_ask(store, month, expected))
    expected = expected.model_copy(update={"reports": sum(row.n or 0 for row in asks)})
    try:
        judging = list(plan_judging(store, month, expected, on_progress))
    finally:
        HELPERS.close()
    return [
        _collect(month, collection, expected),
        *_assign(month, expected),
        *asks,
        _fetch(store, month, expected),
        *judging,
        *_publish(store, month),
    ]


def refusals(store: Warehouse, month: Month) -> list[str]:
    """Why a refresh would not even begin; nothing is written."""
    found = []
    for check in (_check_collection, check_month):
        try:
            check(store, month)
        except (ConfigurationError, EditionError, ModelError, UnwritableSite) as error:
            found.append(str(error))
    return found


def _check_collection(store: Warehouse, month: Month) -> None:
    """Raise EditionError where it could not be collected so."""
    settings: WikipediaSettings = load_wikipedia()
    known = store.rows(Collection, "edition = $1", [month.edition])
    imported = store.value("SELECT count(*) FROM editions WHERE edition = $1", [month.edition])
    if imported or (known and known[0].n_members is not None):
        begin(store, month.collection, settings, utc_now())  # of what is listed nothing is written
        return
    with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "tried.duckdb") as tried:
        begin(tried, month.collection, settings, utc_now())


def _expected(store: Warehouse, month: Month, collection: Collection | None) -> Expected:
    frozen = collection is not None and collection.frozen_at is not None
    if frozen:
        count = "SELECT count(*) FROM articles WHERE edition = $1"
        articles = int(store.value(count, [month.edition]))
    else:
        begun = collection.n_articles if collection else None
        articles = month.articles or begun or load_wikipedia().articles
    kinds = {kind for name in month.protocols for kind in protocol(name).kinds}
    prompted = int(store.value(PROMPTED, [month.edition, "write_article"]))
    questions = 0
    if "find_claims" in kinds:
        inverter = inverter_named(month.judge)
        questions = len(pending_articles(store, month.edition, inverter)) if frozen else articles
    to_write = articles - prompted if "write_article" in kinds else 0
    return Expected(articles=articles, to_write=to_write, questions=questions, reports=0)


def _collect(month: Month, collection: Collection | None, expected: Expected) -> Planned:
    if collection is not None and collection.frozen_at is not None:
        to_do = f"verify {expected.articles} articles against their manifest"
        return free("collect", to_do, "nobody", 0)
    if collection is not None and collection.n_members is not None:
        to_do = f"go on with {collection.n_members:,} pages that are listed; freeze"
    else:
        since, until = month.created_from, month.created_to
        if collection is not None:
            since, until = since or collection.created_since, until or collection.created_until
        window = f"{since:%Y-%m-%d} to before {until:%Y-%m-%d}"
        to_do = f"list and measure good articles created {window}; freeze"
    return free("collect", f"{to_do} {expected.articles}", "the wiki", None)


def _assign(month: Month, expected: Expected) -> Iterator[Planned]:
    for name in month.protocols:
        if "find_claims" not in protocol(name).kinds:
            to_do = f"make {expected.to_write} prompts to write an article"
            yield free(f"assign {name}", to_do, "nobody", 0)
        elif not expected.questions:
            yield free(f"assign {name}", "every question is decided", "nobody", 0)
        else:
            to_do = f"make questions out of {expected.questions} articles"
            yield unknown(f"assign {name}", to_do, f"the judge {month.judge}")


def _ask(store: Warehouse, month: Month, expected: Expected) -> Iterator[Planned]:
    for agent in [agent for agents in in_turn(month) for agent in agents]:
        row = estimate_reports(store, [month.edition], [agent]).row(0, named=True)
        n = row["to_ask"] + expected.to_write
        each, most = row["usd_each"], _most_each(agent)
        said = [f"get {n} reports"]
        said += [f"wait for {row['under_way']} under way"] if row["under_way"] else []
        said += [f"{row['for_a_person']} wait for a person"] if row["for_a_person"] else []
        notes = []
        if searches_archive(agent) and not has_pages(store, month.edition):
            notes.append("it searches archived pages, and there are none yet")
        if expected.questions:
            notes.append("and an answer to each question that will be accepted")
        yield Planned(
            step="ask",
            to_do="; ".join(said),
            asked=agent,
            n=n + row["under_way"],
            usd=None if each is None else each * n,
            usd_at_most=None if most is None else most * n,
            note="; ".join(notes),
        )


def _most_each(agent: str) -> float | None:
    """USD that a budget sets aside for a report; None where nobody knows."""
    ask = ask_of(agent)
    return ask.price.most_usd if ask.price else 0.0 if ask.repeatable else None


def _fetch(store: Warehouse, month: Month, expected: Expected) -> Planned:
    known = len(unfetched(store, month.edition, "direct", month.agents))
    to_do = f"fetch {known:,} cited pages"
    if expected.reports:
        to_do += f" and those that {expected.reports} reports to come will cite"
    return free("fetch", to_do, "web pages", None if expected.reports else known)


def _publish(store: Warehouse, month: Month) -> Iterator[Planned]:
    site = month.site
    if site is None:
        yield free("publish", "nothing is published", "nobody", 0)
    elif has_figures(store, month.edition) and is_published(
        store, month.edition, site.path, site.judges
    ):
        yield free("publish", f"{site.folder} is as the figures are now", "nobody", 0)
    else:
        asked = "a person, in the Prefect UI" if site.approve else "nobody"
        yield free("publish", f"write {site.folder}", asked, int(site.approve))
