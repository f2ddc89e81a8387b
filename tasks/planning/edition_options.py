"""The parameters of the flows that make editions, a model each, as in `tasks.planning.options`."""

from pathlib import Path

from tasks.assignments import ASSIGNMENTS
from tasks.collection.request import CollectionRequest
from tasks.configuration.budgets import Usd
from tasks.configuration.models import load_judges
from tasks.drafts import DRAFTS
from tasks.editions.prompts import describe_assigned
from tasks.planning.options import FlowOptions
from tasks.planning.parameters import AskableAgent, Count, ExtractorName, JudgeName
from tasks.protocols.registry import get_protocol
from tasks.questions import QUESTIONS, describe_accepted
from tasks.run import Plan, Selection
from tasks.warehouse.rows import UtcDatetime
from tasks.warehouse.store import Warehouse


class CollectOptions(FlowOptions):
    """Parameters of `collect`."""

    edition: str
    """its name, e.g. `2026-11`."""
    created_from: UtcDatetime | None = None
    """the window's first day, in UTC; `window_months` before its end unless given."""
    created_to: UtcDatetime | None = None
    """the day after its last; today unless given."""
    articles: Count | None = None
    """how many to choose, at most."""
    wiki_api: str | None = None
    """a wiki other than that of `configs/wikipedia.yaml`."""
    spread: bool | None = None
    """choose from the categories in turn."""
    trial: bool | None = None
    """do not count it: it may share articles with other editions."""

    @property
    def request(self) -> CollectionRequest:
        """What to collect."""
        return CollectionRequest(
            edition=self.edition, since=self.created_from, until=self.created_to,
            articles=self.articles, api_url=self.wiki_api, spread=self.spread, trial=self.trial,
        )  # fmt: skip


class AssignOptions(FlowOptions):
    """Parameters of `assign`."""

    edition: str
    """its name in the warehouse."""
    protocol: str = "wiki_writing"
    """the protocol that will judge the reports. It decides what agents are asked: to write the
    article, or to answer questions about it."""
    judge: str | None = None
    """the judge that makes the questions; the default of `configs/judges.yaml` unless given."""
    articles: int | None = None
    """make questions for this many articles, drawn at random; for all unless given."""
    budget_usd: float | None = None
    """the most this run may spend on models; no limit unless given."""
    batch: bool = False
    """use the models' batch APIs."""

    @property
    def asks_questions(self) -> bool:
        """Whether agents are to answer questions."""
        return "find_claims" in get_protocol(self.protocol).kinds

    def select(self, store: Warehouse) -> Selection:
        judge = self.judge or load_judges().default
        return Selection(edition=self.edition, judge=judge, first=self.articles)

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome if every article has its prompt, or its questions."""
        if plan.find_pending(QUESTIONS if self.asks_questions else ASSIGNMENTS):
            return None
        if self.asks_questions:
            return describe_accepted(plan.store, self.edition)
        return describe_assigned(plan.store, self.edition, new=0)


class DraftOptions(FlowOptions):
    """Parameters of `draft`."""

    edition: str
    """its name in the warehouse."""
    to: str
    """the folder of the files."""
    judge: str
    """the judge that drafts them."""
    assignments: list[str] | None = None
    """only these; all that ask for an article unless given."""
    budget_usd: float | None = None
    """the most this run may spend on models; no limit unless given."""
    batch: bool = False
    """use the models' batch APIs."""

    def select(self, store: Warehouse) -> Selection:
        return Selection(
            edition=self.edition, judge=self.judge, folder=Path(self.to),
            assignments=tuple(self.assignments or ()),
        )  # fmt: skip

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome if every article has its draft."""
        if plan.find_pending(DRAFTS):
            return None
        return f"{self.edition}: all drafts are in {self.to} already."


class RefreshOptions(FlowOptions):
    """Options of a refresh; None: as configured, or as the edition was begun.

    The command's options and the flow's parameters are made from these fields; their texts are
    shown in the help and in the Prefect UI.
    """

    edition: str | None = None
    """Its name, e.g. 2026-12; this or the scheduled month if not given. It sets no window."""
    created_from: UtcDatetime | None = None
    """First day (UTC) of the articles' creation."""
    created_to: UtcDatetime | None = None
    """The day after the last; today, or the scheduled day, if not given."""
    articles: Count | None = None
    """How many to choose."""
    wiki_api: str | None = None
    """Another wiki's api.php."""
    agents: list[AskableAgent] | None = None
    """The agents to ask, of `configs/agents.yaml`."""
    judge: JudgeName | None = None
    """One of those `evergreen judges` lists."""
    extractor: ExtractorName | None = None
    """Who extracts facts and claims, as for `evaluate`: a judge, or `offline`."""
    budget_usd: Usd | None = None
    """The most USD the month may spend in all its runs, or `unlimited`."""
    batch: bool | None = None
    """Use the batch APIs of judges' models."""
    to_publish: bool = True
    """Write the site, if one is configured."""
    site: str | None = None
    """The site's folder; replaced as a whole."""
    approve: bool | None = None
    """Wait for a person's approval in the Prefect UI."""
