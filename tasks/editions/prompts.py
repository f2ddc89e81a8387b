"""Prompts to write articles, rendered once per article and kept."""

from functools import partial

from tasks.base import format_count
from tasks.configuration.criteria import load_criteria
from tasks.configuration.folders import find_file
from tasks.configuration.models import load_protocol
from tasks.configuration.templates import StrictTemplate
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change

WRITING = "wiki_writing"


def assign_writing(warehouse: Warehouse, edition: str) -> int:
    """Create an assignment to write each article that has no prompt; return how many are new.

    Existing prompts stay even if the template changes, since reports answer them.
    """
    articles = find_unprompted_articles(warehouse, edition)
    render = partial(
        StrictTemplate(find_file("assignments/write_article.md")).render,
        today=format_edition_day(warehouse, edition),
        categories=_load_criteria(),
    )
    assignments = [_build_assignment(a, render(title=a.title, url=a.url)) for a in articles]
    warehouse.write(Change(Assignment, assignments))
    return len(assignments)


def find_unprompted_articles(warehouse: Warehouse, edition: str) -> list[Article]:
    """Return the articles without a prompt, by name."""
    return warehouse.rows(
        Article,
        "edition = $1 AND article NOT IN (SELECT article FROM assignments WHERE edition = $1 "
        "AND kind = 'write_article' AND prompt IS NOT NULL)",
        [edition],
    )


def describe_assigned(warehouse: Warehouse, edition: str, new: int) -> str:
    """Say how many assignments to write an article there are."""
    n = warehouse.value(
        "SELECT count(*) FROM assignments WHERE edition = $1 AND kind = 'write_article' "
        "AND prompt IS NOT NULL",
        [edition],
    )
    return f"{edition}: {format_count(n, 'assignment')} to write an article, {new} of them new."


def format_edition_day(warehouse: Warehouse, edition: str) -> str:
    """Return the edition's date for prompts: the same for all agents, whenever they are asked."""
    collection = warehouse.rows(Collection, "edition = $1", [edition])
    if collection:
        return f"{collection[0].begun_at:%-d %B %Y}"
    return f"{warehouse.rows(Edition, 'edition = $1', [edition])[0].imported_at:%-d %B %Y}"


def _load_criteria() -> list[dict[str, object]]:
    """Load the criteria that reports are judged by, grouped by category, for the prompt."""
    file = str(load_protocol(WRITING).parameters["criteria"])
    return [
        {
            "title": category.id.replace("_", " ").capitalize(),
            "criteria": [criterion.text for criterion in category.all_criteria],
        }
        for category in load_criteria(file).categories
    ]


def _build_assignment(article: Article, prompt: str) -> Assignment:
    return Assignment(
        edition=article.edition,
        assignment=article.article,
        article=article.article,
        prompt=prompt,
        prompt_sha=content_sha(prompt),
    )
