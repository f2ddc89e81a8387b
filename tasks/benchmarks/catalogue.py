"""What the publisher's lists say: the articles (`ga_*.csv`, `ga_*.json`) and the agents.

The lists are the frame of an edition, so a broken one ends the import (EditionError) instead
of being listed: without it nobody could tell which reports belong.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from tasks.benchmarks.errors import EditionError, UnreadableFileError
from tasks.benchmarks.layout import Layout, article_id
from tasks.warehouse.rows import Agent

REGISTRY = "test_data/agencies.json"


@dataclass(frozen=True)
class Entry:
    """One article as the lists describe it. What a list does not say, or says in a form
    that cannot be read, is null; `unread` names the columns of the second sort."""

    article: str
    title: str
    url: str
    created_at: datetime | None = None
    promoted_on: date | None = None
    bytes: int | None = None
    views: int | None = None
    external_links: int | None = None
    topic: str | None = None
    category: str | None = None
    prompt: str | None = None
    unread: tuple[str, ...] = ()

    @property
    def promoted_before_created(self) -> bool:
        """True where the two dates contradict each other."""
        if self.created_at is None or self.promoted_on is None:
            return False
        return self.promoted_on < self.created_at.date()


def entries(layout: Layout) -> dict[str, Entry]:
    """Every listed article by its id, sorted. Raises EditionError if there is no usable list.

    The CSVs give the metadata, the JSONs the prompts (`question`) where they are published.
    Of two records of one article the first in sorted file order counts.
    """
    tables = layout.files("wiki_data", ".csv")
    lists = layout.files("wiki_data", ".json")
    csv_paths = [path for name, path in tables.items() if name.startswith("ga_")]
    json_paths = [path for name, path in lists.items() if name.startswith("ga_")]
    if not csv_paths and not json_paths:
        raise EditionError(
            f"{layout.root / 'wiki_data'} holds no list of articles; expected ga_<n>.csv (columns "
            "title, url, created_ts, …) or ga_<n>.json. Fetch the edition afresh."
        )
    records: dict[str, dict[str, str]] = {}
    for record in _records(layout, csv_paths, json_paths):
        known = records.setdefault(article_id(record["title"]), record)
        for key, value in record.items():
            known.setdefault(key, value)
    return {article: _entry(article, records[article]) for article in sorted(records)}


def registered_agents(layout: Layout, edition: str) -> dict[str, Agent]:
    """Every agent that has a folder, by id; names from agencies.json, else the folder's name."""
    registry = _registry(layout)
    return {agent: _agent(edition, agent, registry.get(agent, {})) for agent in layout.agents()}


def unused_agents(layout: Layout) -> list[str]:
    """Agents of agencies.json without a folder of reports, sorted."""
    return sorted(set(_registry(layout)) - set(layout.agents()))


def _records(
    layout: Layout, csv_paths: Iterable[str], json_paths: Iterable[str]
) -> Iterable[dict[str, str]]:
    for path in csv_paths:
        yield from _csv_records(layout, path)
    for path in json_paths:
        yield from _json_records(layout, path)


def _csv_records(layout: Layout, path: str) -> list[dict[str, str]]:
    try:
        text = layout.text(path)
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        missing = {"title", "url"} - set(reader.fieldnames or ())
        if missing:
            found = ", ".join(reader.fieldnames or ()) or "none"
            raise EditionError(
                f"{layout.root / path} lacks the column {' and '.join(sorted(missing))}; columns "
                f"found: {found}. Fetch the file afresh."
            )
        rows = list(reader)
    except (UnreadableFileError, csv.Error) as error:
        raise EditionError(
            f"{layout.root / path} cannot be read as a table of articles: {error}. Fetch the file "
            "afresh."
        ) from None
    records = [{k: v for k, v in row.items() if k and isinstance(v, str)} for row in rows]
    return [_checked(layout, path, n, record) for n, record in enumerate(records, start=2)]


def _json_records(layout: Layout, path: str) -> list[dict[str, str]]:
    value = _framing_json(layout, path)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise EditionError(
            f"{layout.root / path} is not a list of articles; expected [{{title, url, …}}, …]. "
            "Fetch the file afresh."
        )
    wanted = ("title", "url", "question")
    records = [{k: item[k] for k in wanted if isinstance(item.get(k), str)} for item in value]
    return [_checked(layout, path, n, record) for n, record in enumerate(records, start=1)]


def _checked(layout: Layout, path: str, number: int, record: dict[str, str]) -> dict[str, str]:
    """The record, if it has a title and a URL; blank fields are left out."""
    filled = {key: value.strip() for key, value in record.items() if value.strip()}
    if "title" not in filled or "url" not in filled:
        raise EditionError(
            f"{layout.root / path}: record {number} has no title or no url. Complete or remove it."
        )
    return filled


def _entry(article: str, record: Mapping[str, str]) -> Entry:
    unread: list[str] = []

    def read(column: str, parse: Any) -> Any:
        try:
            return parse(record[column]) if column in record else None
        except ValueError:
            unread.append(column)
            return None

    return Entry(
        article=article,
        title=record["title"].replace("_", " "),
        url=record["url"],
        created_at=read("created_ts", _timestamp),
        promoted_on=read("ga_date", date.fromisoformat),
        bytes=read("bytes", _count),
        views=read("views_total", _count),
        external_links=read("external_links", _count),
        topic=record.get("ga_topic_keyword"),
        category=record.get("category"),
        prompt=record.get("question"),
        unread=tuple(unread),
    )


def _timestamp(text: str) -> datetime:
    """MediaWiki's `YYYYMMDDhhmmss`, UTC."""
    return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _count(text: str) -> int:
    """A whole number from 0 that fits the warehouse's 64 bits."""
    number = int(text)
    if not 0 <= number < 2**63:
        raise ValueError(f"{text} is not a count")
    return number


def _registry(layout: Layout) -> dict[str, dict[str, Any]]:
    """The agents of agencies.json by id, disabled ones too; empty if the file is absent."""
    if not (layout.root / REGISTRY).exists():
        return {}
    value = _framing_json(layout, REGISTRY)
    agencies = value.get("agencies") if isinstance(value, dict) else None
    if not isinstance(agencies, dict) or not all(isinstance(a, dict) for a in agencies.values()):
        raise EditionError(
            f"{layout.root / REGISTRY} is not a registry of agents; expected "
            '{"agencies": {<folder>: {"name": …}}}. Repair it, or remove it to go by the folders.'
        )
    return agencies


def _agent(edition: str, agent: str, record: Mapping[str, Any]) -> Agent:
    name, description = record.get("name"), record.get("description")
    declared = record.get("has_citations")
    return Agent(
        edition=edition,
        agent=agent,
        name=name if isinstance(name, str) and name.strip() else agent,
        description=description if isinstance(description, str) else None,
        declares_citations=declared if isinstance(declared, bool) else None,
    )


def _framing_json(layout: Layout, path: str) -> Any:
    try:
        return layout.json(path)
    except UnreadableFileError as error:
        raise EditionError(f"{layout.root / path} cannot be read: {error}") from None
