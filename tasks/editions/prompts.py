"""What agents are asked: one prompt per article, made from its file and kept for good."""

from functools import partial

from tasks.configuration.criteria import load_criteria
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import load_protocol
from tasks.configuration.templates import StrictTemplate
from tasks.warehouse.collected import Collection
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

WRITING = "wiki_writing"


def assign_writing(warehouse: Warehouse, edition: str) -> int:
    """An assignment to write each article that has no prompt yet; how many are new.

    A prompt that is there stays, also when its file has changed since: reports answer it.
    """
    articles = unprompted(warehouse, edition)
    render = partial(
        StrictTemplate(CONFIGS / "assignments" / "write_article.md").render,
        today=day_of(warehouse, edition),
        categories=_criteria(),
    )
    assignments = [_assignment(a, render(title=a.title, url=a.url)) for a in articles]
    warehouse.write(Change(Assignment, assignments))
    return len(assignments)


def unprompted(warehouse: Warehouse, edition: str) -> list[Article]:
    """The articles that no agent can be asked to write yet, by their names."""
    return warehouse.rows(
        Article,
        "edition = $1 AND article NOT IN (SELECT article FROM assignments WHERE edition = $1 "
        "AND kind = 'write_article' AND prompt IS NOT NULL)",
        [edition],
    )


def assigned_message(warehouse: Warehouse, edition: str, new: int) -> str:
    """How many assignments to write an article there are."""
    n = warehouse.value(
        "SELECT count(*) FROM assignments WHERE edition = $1 AND kind = 'write_article' "
        "AND prompt IS NOT NULL",
        [edition],
    )
    return f"{edition}: {n} assignments to write an article, {new} of them new."


def day_of(warehouse: Warehouse, edition: str) -> str:
    """The day an edition is of, as prompts name it: the same for all agents, whenever asked."""
    collection = warehouse.rows(Collection, "edition = $1", [edition])
    if collection:
        return f"{collection[0].begun_at:%-d %B %Y}"
    return f"{warehouse.rows(Edition, 'edition = $1', [edition])[0].imported_at:%-d %B %Y}"


def _criteria() -> list[dict[str, object]]:
    """The criteria that reports are judged by, by category, as the prompt lists them."""
    file = str(load_protocol(WRITING).parameters["criteria"])
    return [
        {
            "title": category.id.replace("_", " ").capitalize(),
            "criteria": [criterion.text for criterion in category.all_criteria],
        }
        for category in load_criteria(file).categories
    ]


def _assignment(article: Article, prompt: str) -> Assignment:
    return Assignment(
        edition=article.edition,
        assignment=article.article,
        article=article.article,
        prompt=prompt,
        prompt_sha=content_sha(prompt),
    )
