"""The publisher's lists of articles (`ga_*.csv`, `ga_*.json`) and agents.

A broken list ends the import with an EditionError, because without it nobody can tell which reports
belong to the edition.
"""

import csv
import io
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from tasks.benchmarks.errors import EditionError, UnreadableFileError
from tasks.benchmarks.layout import Layout, article_id
from tasks.benchmarks.rows import PublishedRow
from tasks.foreign_text import refuse_hidden
from tasks.warehouse.rows import Agent

REGISTRY = "test_data/agencies.json"


def _parse_timestamp(text: str) -> datetime:
    """Parse MediaWiki's `YYYYMMDDhhmmss`, in UTC."""
    return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


Timestamp = Annotated[datetime, BeforeValidator(_parse_timestamp)]
Count = Annotated[int, BeforeValidator(int), Field(ge=0, lt=2**63)]


class ListedArticle(PublishedRow):
    """An article as the lists describe it; missing or unreadable values are None."""

    title: str
    url: str
    created_at: Timestamp | None = Field(None, validation_alias="created_ts")
    promoted_on: Annotated[date, BeforeValidator(date.fromisoformat)] | None = Field(
        None, validation_alias="ga_date"
    )
    bytes: Count | None = None
    views: Count | None = Field(None, validation_alias="views_total")
    external_links: Count | None = None
    topic: str | None = Field(None, validation_alias="ga_topic_keyword")
    category: str | None = None
    prompt: str | None = Field(None, validation_alias="question")
    unread: tuple[str, ...] = ()
    """The columns with unreadable values."""

    @property
    def promoted_before_created(self) -> bool:
        """Whether the two dates contradict each other."""
        if self.created_at is None or self.promoted_on is None:
            return False
        return self.promoted_on < self.created_at.date()


def read_articles(layout: Layout) -> dict[str, ListedArticle]:
    """Read all listed articles, by id. Raise EditionError if there is no usable list.

    The CSVs have the metadata, the JSONs the prompts (`question`) if they are published. Of two
    records of one article the first in sorted file order counts.
    """
    tables = layout.list_files("wiki_data", ".csv")
    lists = layout.list_files("wiki_data", ".json")
    readers = [(_read_csv, path) for name, path in tables.items() if name.startswith("ga_")]
    readers += [(_read_json_list, path) for name, path in lists.items() if name.startswith("ga_")]
    if not readers:
        raise EditionError(
            f"{layout.root / 'wiki_data'} has no list of articles; expected ga_<n>.csv (columns "
            "title, url, created_ts, …) or ga_<n>.json. Download the edition again."
        )
    records: dict[str, dict[str, str]] = {}
    for read, path in readers:
        for record in read(layout, path):
            article = article_id(record["title"])
            records[article] = record | records.get(article, {})
    return {article: _parse_article(records[article]) for article in sorted(records)}


def read_agents(layout: Layout, edition: str) -> dict[str, Agent]:
    """Read all agents that have a folder, by id, with their names in agencies.json."""
    registry = _read_registry(layout)
    return {
        agent: _make_agent(edition, agent, registry.get(agent, {}))
        for agent in layout.list_agents()
    }


def find_unused_agents(layout: Layout) -> list[str]:
    """Return the agents in agencies.json without a folder of reports, sorted."""
    return sorted(set(_read_registry(layout)) - set(layout.list_agents()))


def _read_csv(layout: Layout, path: str) -> list[dict[str, str]]:
    try:
        text = layout.read_text(path)
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        missing = {"title", "url"} - set(reader.fieldnames or ())
        if missing:
            found = ", ".join(reader.fieldnames or ()) or "none"
            raise EditionError(
                f"{layout.root / path} lacks the column {' and '.join(sorted(missing))}; columns "
                f"found: {found}. Download the file again."
            )
        rows = list(reader)
    except (UnreadableFileError, csv.Error) as error:
        raise EditionError(
            f"{layout.root / path} cannot be read as a table of articles: {error}. Download the "
            "file again."
        ) from None
    records = [{k: v for k, v in row.items() if k and isinstance(v, str)} for row in rows]
    return [_validate_record(layout, path, n, record) for n, record in enumerate(records, start=2)]


def _read_json_list(layout: Layout, path: str) -> list[dict[str, str]]:
    value = _read_json(layout, path)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise EditionError(
            f"{layout.root / path} is not a list of articles; expected [{{title, url, …}}, …]. "
            "Download the file again."
        )
    wanted = ("title", "url", "question")
    records = [{k: item[k] for k in wanted if isinstance(item.get(k), str)} for item in value]
    return [_validate_record(layout, path, n, record) for n, record in enumerate(records, start=1)]


def _validate_record(
    layout: Layout, path: str, number: int, record: dict[str, str]
) -> dict[str, str]:
    """Return the record without blank fields; raise EditionError without a title or URL."""
    filled = {key: value.strip() for key, value in record.items() if value.strip()}
    if "title" not in filled or "url" not in filled:
        raise EditionError(
            f"{layout.root / path}: record {number} has no title or no url. Complete or remove it."
        )
    return filled


def _parse_article(record: Mapping[str, str]) -> ListedArticle:
    # A publisher's own column `unread` is none of ours.
    columns = {column: text for column, text in record.items() if column != "unread"}
    named = {**columns, "title": record["title"].replace("_", " ")}
    try:
        return ListedArticle.model_validate(named)
    except ValidationError as error:
        unread = tuple(dict.fromkeys(str(problem["loc"][0]) for problem in error.errors()))
    readable = {column: text for column, text in named.items() if column not in unread}
    return ListedArticle.model_validate({**readable, "unread": unread})


def _read_registry(layout: Layout) -> dict[str, dict[str, Any]]:
    """Read the agents in agencies.json by id, including disabled ones; empty if it is absent."""
    if not (layout.root / REGISTRY).exists():
        return {}
    value = _read_json(layout, REGISTRY)
    agencies = value.get("agencies") if isinstance(value, dict) else None
    if not isinstance(agencies, dict) or not all(isinstance(a, dict) for a in agencies.values()):
        raise EditionError(
            f"{layout.root / REGISTRY} is not a registry of agents; expected "
            '{"agencies": {<folder>: {"name": …}}}. Repair it, or remove it to use folder names.'
        )
    return agencies


def _make_agent(edition: str, agent: str, record: Mapping[str, Any]) -> Agent:
    name, description = record.get("name"), record.get("description")
    declared = record.get("has_citations")
    name = name if isinstance(name, str) and name.strip() else agent
    refuse_hidden(name, f"{REGISTRY}: the agent")
    return Agent(
        edition=edition,
        agent=agent,
        name=name,
        description=description if isinstance(description, str) else None,
        declares_citations=declared if isinstance(declared, bool) else None,
    )


def _read_json(layout: Layout, path: str) -> Any:
    try:
        return layout.read_json(path)
    except UnreadableFileError as error:
        raise EditionError(f"{layout.root / path} cannot be read: {error}") from None
