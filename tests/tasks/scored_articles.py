"""Editions of articles with categories and dates, and what a judge gave the reports on them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tasks.protocols.registry import get_protocol
from tasks.scoring.pending import current_version
from tasks.scoring.rows import add_statistics, build_leaderboard_rows
from tasks.warehouse.results import AgentPair, LeaderboardRow, Score
from tasks.warehouse.rows import Article, Assignment, Edition, Fact, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

FIRST = datetime(2025, 3, 1, tzinfo=UTC)
"""When the first article of an edition was created; each of the others a day later."""
WRITING = ("wiki_writing", "writing_overall")
COVERAGE = ("wiki_fact", "coverage_wiki")
Values = Mapping[str, tuple[float | None, ...]]
"""By agent, the values of its reports on the articles, in order."""
TABLES_OF_SCORES = [
    (*command.split(), "--edition", "e")
    for command in ("leaderboard", "compare agents", "analyse", "compare protocols")
]
"""The commands that print what was scored."""


def articles(
    warehouse: Warehouse, categories: tuple[str | None, ...], edition: str = "e",
    shared: str | None = None, **figures: Any,
) -> None:  # fmt: skip
    """Write an edition whose articles `x0`, `x1`, … have these categories.

    shared: the edition whose articles they are, too.
    figures: columns of the articles, a value for each; `statements` is how many facts each has.
    """
    statements = figures.pop("statements", [0] * len(categories))
    made = [
        Article(
            edition=edition, article=f"x{n}", title=f"X {n}",
            url=f"https://example.org/{shared or edition}/{n}", text="…", text_sha="",
            category=category,
            **{"created_at": FIRST + timedelta(days=n),
               **{name: values[n] for name, values in figures.items()}},
        )
        for n, category in enumerate(categories)
    ]  # fmt: skip
    asked = [Assignment(edition=edition, assignment=a.article, article=a.article) for a in made]
    facts = [
        Fact(edition=edition, article=f"x{n}", number=k, text=f"{k}", source="published")
        for n, count in enumerate(statements)
        for k in range(count)
    ]
    row = Edition(edition=edition, source="wlc", title=edition, imported_at=utc_now())
    warehouse.write(
        Change(Edition, [row]), Change(Article, made), Change(Assignment, asked),
        Change(Fact, facts),
    )  # fmt: skip


def scored(
    warehouse: Warehouse, values: Mapping[tuple[str, str], Values], edition: str = "e",
    judge: str = "offline", n_open: int = 0,
) -> None:  # fmt: skip
    """Write scores by (protocol, metric), and the leaderboard that they make. Later articles have
    more items: means of reports and pooled figures are not the same."""
    scores = [
        Score(
            edition=edition, protocol=name, metric=metric, agent=agent, assignment=f"x{n}",
            judge=judge, value=value, numerator=value and value * 10 * (n + 1),
            n_items=10 * (n + 1) * (value is not None), n_open=n_open, state="done",
            cell_id=f"{name} {agent} {n}",
            reason=None if value is not None else "nothing there",
            scorer_version=current_version(get_protocol(name)),
        )
        for (name, metric), of_agent in values.items()
        for agent, of_report in of_agent.items()
        for n, value in enumerate(of_report)
    ]  # fmt: skip
    warehouse.write(Change(Score, scores))
    rows = build_leaderboard_rows(warehouse, edition, [get_protocol(name) for name, _ in values])
    whole, pairs = add_statistics(warehouse, edition, rows)
    warehouse.write(Change(LeaderboardRow, whole), Change(AgentPair, pairs))
