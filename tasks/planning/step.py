"""Planned steps of a refresh, and their costs compared with its budget."""

from collections.abc import Sequence

from tasks.base import Frozen


class PlannedStep(Frozen):
    """One step of a plan."""

    step: str
    action: str
    target: str
    """Who is asked: the wiki, an agent, a judge, web pages, nobody."""
    n: int | None
    """Number of requests, reports, calls or pages; None if unknown."""
    usd: float | None
    """Expected cost; None if unknown."""
    usd_at_most: float | None
    """What a budget would set aside; None if unknown."""
    note: str = ""


class ExpectedWork(Frozen):
    """How much of a month exists and how much is pending."""

    articles: int
    to_write: int
    """Pending prompts to write an article."""
    questions: int
    """Articles whose questions are pending; the number of questions is unknown."""
    reports: int
    """Future reports of all agents, as far as their prompts are known."""


class PlanCosts(Frozen):
    """A plan's costs compared with the month's budget, in USD."""

    budget_usd: float | None
    """None: no cap."""
    spent_usd: float
    """Spent by earlier runs of the month, as far as prices are known."""
    expected_usd: float
    """Sum of the known expected costs."""
    at_most_usd: float
    """Sum of the known amounts that a budget would set aside."""
    unknown: tuple[str, ...]
    """Steps missing from both sums, or from the second."""

    @property
    def verdict(self) -> str:
        """Whether the budget is enough."""
        if self.budget_usd is None:
            return "no cap is set"
        left = self.budget_usd - self.spent_usd
        if self.expected_usd > left:
            return "not enough: what exceeds it is left out, and the month ends as Partial"
        enough = "enough for what is expected" if self.at_most_usd > left else "enough"
        return f"{enough}, as far as is known" if self.unknown else enough


def sum_costs(plan: Sequence[PlannedStep], budget_usd: float | None, spent_usd: float) -> PlanCosts:
    """Sum the costs of a plan."""
    open_ends = [f"{row.step}: {row.action}" for row in plan if row.usd_at_most is None]
    return PlanCosts(
        budget_usd=budget_usd,
        spent_usd=spent_usd,
        expected_usd=sum(row.usd or 0.0 for row in plan),
        at_most_usd=sum(row.usd_at_most or 0.0 for row in plan),
        unknown=tuple(open_ends),
    )


def make_free_step(step: str, action: str, target: str, n: int | None) -> PlannedStep:
    return PlannedStep(step=step, action=action, target=target, n=n, usd=0.0, usd_at_most=0.0)


def make_unpriced_step(step: str, action: str, target: str) -> PlannedStep:
    return PlannedStep(step=step, action=action, target=target, n=None, usd=None, usd_at_most=None)
