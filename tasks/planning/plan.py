"""Plan a refresh step by step, with requests and costs, from the warehouse alone.

Prefect-free. What cannot be known beforehand (such as how many pages reports will cite) is None.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.archive.pending import find_pending_pages
from tasks.base import format_count
from tasks.benchmarks.errors import EditionError
from tasks.collection.request import begin_collection
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.wikipedia import WikipediaSettings, load_wikipedia
from tasks.editions.state import has_figures, has_pages
from tasks.jobs.estimate import estimate_reports, get_most_usd
from tasks.jobs.sessions import load_ask_entry
from tasks.models.errors import ModelError
from tasks.planning.edition_options import AssignOptions
from tasks.planning.judging import (
    ExpectedWork,
    OnProgress,
    PlannedStep,
    make_free_step,
    make_unpriced_step,
    plan_judging,
)
from tasks.planning.month import Month, check_month, searches_archive
from tasks.planning.options import AskOptions
from tasks.planning.sources import has_seed_pages, is_given_sources
from tasks.planning.steps import Step, list_month_steps
from tasks.processes.pool import HelperProcesses
from tasks.protocols.registry import get_protocol
from tasks.publishing.downloads import is_current
from tasks.questions import find_pending_articles, get_inverter
from tasks.site.mark import UnwritableSite
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import Collection

PROMPTED = """
SELECT count(*) FROM assignments
WHERE edition = $1 AND kind = $2 AND prompt IS NOT NULL
"""


def plan_month(
    store: Warehouse, month: Month, on_progress: OnProgress = lambda n: None
) -> list[PlannedStep]:
    """Return the month's pending steps, in order."""
    collection = next(iter(store.rows(Collection, "edition = $1", [month.edition])), None)
    expected = _count_expected(store, month, collection)
    steps = [*list_month_steps(store, month, look_ahead=True)]
    asks = [
        row
        for step in steps
        if isinstance(step.options, AskOptions)
        for row in _plan_ask(store, month, step.options.agents, expected)
    ]
    expected = expected.model_copy(update={"reports": sum(row.n or 0 for row in asks)})
    with closing(HelperProcesses()) as helpers:
        judging = list(plan_judging(store, helpers, month, expected, on_progress))
    return [
        _plan_collect(month, collection, expected),
        *(_plan_assign(step, month, expected) for step in steps if step.flow == "assign"),
        *asks,
        _plan_fetch(store, month, expected),
        *judging,
        *_plan_publish(store, month),
    ]


def find_refusals(store: Warehouse, month: Month) -> list[str]:
    """Return the reasons why a refresh could not begin; writes nothing."""
    found = []
    for check in (_check_collection, check_month):
        try:
            check(store, month)
        except (ConfigurationError, EditionError, ModelError, UnwritableSite) as error:
            found.append(str(error))
    return found


def _check_collection(store: Warehouse, month: Month) -> None:
    """Raise EditionError if the edition could not be collected with these parameters."""
    settings: WikipediaSettings = load_wikipedia()
    known = store.rows(Collection, "edition = $1", [month.edition])
    imported = store.value("SELECT count(*) FROM editions WHERE edition = $1", [month.edition])
    if imported or (known and known[0].n_members is not None):
        begin_collection(
            store, month.collection, settings, utc_now()
        )  # writes nothing once pages are listed
        return
    with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "tried.duckdb") as tried:
        begin_collection(tried, month.collection, settings, utc_now())


def _count_expected(store: Warehouse, month: Month, collection: Collection | None) -> ExpectedWork:
    frozen = collection is not None and collection.frozen_at is not None
    if frozen:
        count = "SELECT count(*) FROM articles WHERE edition = $1"
        articles = int(store.value(count, [month.edition]))
    else:
        planned = collection.n_articles if collection else None
        articles = month.articles or planned or load_wikipedia().articles
    kinds = {kind for name in month.protocols for kind in get_protocol(name).kinds}
    prompted = int(store.value(PROMPTED, [month.edition, "write_article"]))
    questions = 0
    if "find_claims" in kinds:
        inverter = get_inverter(month.judge)
        questions = (
            len(find_pending_articles(store, month.edition, inverter)) if frozen else articles
        )
    to_write = articles - prompted if "write_article" in kinds else 0
    return ExpectedWork(articles=articles, to_write=to_write, questions=questions, reports=0)


def _plan_collect(
    month: Month, collection: Collection | None, expected: ExpectedWork
) -> PlannedStep:
    if collection is not None and collection.frozen_at is not None:
        action = f"verify {format_count(expected.articles, 'article')} against the manifest"
        return make_free_step("collect", action, "nobody", 0)
    if collection is not None and collection.n_members is not None:
        action = f"continue with {collection.n_members:,} listed pages; freeze"
    else:
        since, until = month.created_from, month.created_to
        if collection is not None:
            since, until = since or collection.created_since, until or collection.created_until
        window = f"{since:%Y-%m-%d} to before {until:%Y-%m-%d}"
        action = f"list and measure good articles created {window}; freeze"
    return make_free_step("collect", f"{action} {expected.articles}", "the wiki", None)


def _plan_assign(step: Step, month: Month, expected: ExpectedWork) -> PlannedStep:
    assert isinstance(step.options, AssignOptions)
    if not step.options.asks_questions:
        action = f"make {format_count(expected.to_write, 'prompt')} to write an article"
        return make_free_step(step.name, action, "nobody", 0)
    if not expected.questions:
        return make_free_step(step.name, "make no questions: all are decided", "nobody", 0)
    action = f"make questions from {format_count(expected.questions, 'article')}"
    return make_unpriced_step(step.name, action, f"the judge {month.judge}")


def _plan_ask(
    store: Warehouse, month: Month, agents: Sequence[str], expected: ExpectedWork
) -> Iterator[PlannedStep]:
    for agent in agents:
        row = estimate_reports(store, [month.edition], [agent]).row(0, named=True)
        n = row["to_ask"] + expected.to_write
        each, most = row["usd_each"], get_most_usd(load_ask_entry(agent))
        parts = [f"get {format_count(n, 'report')}"]
        parts += [f"wait for {row['under_way']} under way"] if row["under_way"] else []
        parts += (
            [f"{row['for_a_person']} wait for a person's decision"] if row["for_a_person"] else []
        )
        notes = []
        if is_given_sources(agent) and not has_seed_pages(store, month.edition, agent):
            notes.append(
                f"before, at most {month.reference_pages:,} pages of the articles' references are "
                "fetched for it"
            )
        if searches_archive(agent) and not has_pages(store, month.edition):
            notes.append("it searches archived pages, and there are none yet")
        if expected.questions:
            notes.append("and an answer to each accepted question")
        yield PlannedStep(
            step="ask",
            action="; ".join(parts),
            target=agent,
            n=n + row["under_way"],
            usd=None if each is None else each * n,
            usd_at_most=None if most is None else most * n,
            note="; ".join(notes),
        )


def _plan_fetch(store: Warehouse, month: Month, expected: ExpectedWork) -> PlannedStep:
    known = len(find_pending_pages(store, month.edition, "direct", month.agents))
    action = f"fetch {format_count(known, 'cited page')}"
    if expected.reports:
        action += f" and those that {format_count(expected.reports, 'future report')} will cite"
    return make_free_step("fetch", action, "web pages", None if expected.reports else known)


def _plan_publish(store: Warehouse, month: Month) -> Iterator[PlannedStep]:
    site = month.site
    if site is None:
        yield make_free_step("publish", "publish nothing", "nobody", 0)
    elif has_figures(store, month.edition) and is_current(
        store, month.edition, site.path, site.judges
    ):
        yield make_free_step("publish", f"{site.folder} is up to date", "nobody", 0)
    else:
        target = "a person, in the Prefect UI" if site.approve else "nobody"
        yield make_free_step("publish", f"write {site.folder}", target, int(site.approve))
