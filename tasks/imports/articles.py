"""Stage articles (and assignments, agents, published facts): an edition's frame.

Of editions that are imported from a published layout; `collecting` and `freezing` make others.
"""

from collections.abc import Sequence
from pathlib import Path

from tasks.benchmarks.wlc import PublishedEdition, read_wlc
from tasks.editions.manifest import refuse_collected
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Edition,
    Extraction,
    Fact,
    ImportIssue,
)
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


def import_frame(
    warehouse: Warehouse, folder: Path, edition: str, agents: Sequence[str] = ()
) -> PublishedEdition:
    """Read the edition under `folder` and merge everything but the reports.

    Importing the same files again changes nothing; a changed article replaces its facts.

    Raises:
        EditionError: not an edition, an unknown agent, or the name of a collected edition.
    """
    refuse_collected(warehouse, edition)
    published = read_wlc(folder, edition, list(agents) or None)
    warehouse.write(
        Change(Edition, [published.edition], only_new=True),
        Change(Agent, published.agents),
        Change(Article, published.articles),
        Change(Assignment, _with_prompts(warehouse, edition, published.assignments)),
        Change(
            ImportIssue,
            published.issues,
            replacing={"edition": edition, "scope": ""},
        ),
        *_changed_facts(warehouse, edition, published),
    )
    return published


def _with_prompts(
    warehouse: Warehouse, edition: str, assignments: Sequence[Assignment]
) -> list[Assignment]:
    """The publisher gives no prompts; those that were made here since stay: reports answer them."""
    made = {
        stored.assignment: {"prompt": stored.prompt, "prompt_sha": stored.prompt_sha}
        for stored in warehouse.rows(Assignment, "edition = $1 AND prompt IS NOT NULL", [edition])
    }
    return [a.model_copy(update=made.get(a.assignment, {})) for a in assignments]


def _changed_facts(warehouse: Warehouse, edition: str, published: PublishedEdition) -> list[Change]:
    known = set(warehouse.rows(Extraction, "edition = $1 AND agent = ''", [edition]))
    changes = []
    for extraction in published.extractions:
        if extraction in known:
            continue
        key = {"edition": edition, "article": extraction.assignment}
        facts = [fact for fact in published.facts if fact.article == extraction.assignment]
        changes += [
            Change(Fact, facts, replacing=key),
            Change(
                Extraction,
                [extraction],
                replacing={"edition": edition, "agent": "", "assignment": extraction.assignment},
            ),
        ]
    return changes
