"""One thing that a refresh would do, and what all of it would cost against its budget."""

from collections.abc import Sequence

from tasks.base import Frozen


class Planned(Frozen):
    """One thing that would be done."""

    step: str
    to_do: str
    asked: str
    """Who would be: the wiki, an agent, a judge, web pages, nobody."""
    n: int | None
    """How often: requests, reports, calls or pages; None where nobody can say."""
    usd: float | None
    """Expected; None where it is not known."""
    usd_at_most: float | None
    """What a budget would set aside for it; None where it is not known."""
    note: str = ""


class Expected(Frozen):
    """How much of a month there is, and how much is to come."""

    articles: int
    to_write: int
    """Prompts to write an article that are still to be made."""
    questions: int
    """Articles of which questions are still to be made: how many there will be, nobody knows."""
    reports: int
    """Reports that are to come, of all agents, as far as their prompts are known."""


class Account(Frozen):
    """A plan against the month's budget, in USD."""

    budget_usd: float | None
    """None: no cap."""
    spent_usd: float
    """By earlier runs of the month, as far as prices are known."""
    expected_usd: float
    """Of what is known."""
    at_most_usd: float
    """Of what is known: what a budget would set aside."""
    unknown: tuple[str, ...]
    """What is in neither of the two, or not in the second."""

    @property
    def verdict(self) -> str:
        """Whether the budget is enough."""
        if self.budget_usd is None:
            return "no cap is set"
        left = self.budget_usd - self.spent_usd
        if self.expected_usd > left:
            return "not enough: what does not fit is left, and the month ends as Partial"
        enough = "enough for what is expected" if self.at_most_usd > left else "enough"
        return f"{enough}, as far as is known" if self.unknown else enough


def account_of(plan: Sequence[Planned], budget_usd: float | None, spent_usd: float) -> Account:
    """The sums of a plan."""
    open_ends = [f"{row.step}: {row.to_do}" for row in plan if row.usd_at_most is None]
    return Account(
        budget_usd=budget_usd,
        spent_usd=spent_usd,
        expected_usd=sum(row.usd or 0.0 for row in plan),
        at_most_usd=sum(row.usd_at_most or 0.0 for row in plan),
        unknown=tuple(open_ends),
    )


def free(step: str, to_do: str, asked: str, n: int | None) -> Planned:
    return Planned(step=step, to_do=to_do, asked=asked, n=n, usd=0.0, usd_at_most=0.0)


def unknown(step: str, to_do: str, asked: str) -> Planned:
    return Planned(step=step, to_do=to_do, asked=asked, n=None, usd=None, usd_at_most=None)
