"""The parameters of the flows: of each one model, from which command, flow and library are made.

A field's docstring is what the Prefect UI shows; commands may word their help otherwise. `select`
tells what a run is about, and `find_outcome` what a run ends with that finds nothing pending.
"""

from typing import Literal

from pydantic import ConfigDict

from tasks.archive.pending import describe_archived, describe_open_pages
from tasks.base import Frozen
from tasks.claims import CLAIMS
from tasks.configuration.budgets import Usd
from tasks.configuration.models import load_judges
from tasks.judging.protocols import choose_protocols
from tasks.pages import READ_AGAIN, list_page_stages
from tasks.planning.parameters import (
    AskableAgent,
    Count,
    ExtractorName,
    Hours,
    JudgeName,
    ProtocolName,
)
from tasks.planning.stages import EVALUATION, is_done
from tasks.reports import REPORTS
from tasks.run import Plan, Selection
from tasks.verdicts import describe_judged
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.store import Warehouse

Snapshots = Literal["passages", "whole"]


class FlowOptions(Frozen):
    """Parameters that every flow has."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    warehouse: str = "data/warehouse.duckdb"
    """a DuckDB file or a lake's address; waits while another process owns the file."""

    def select(self, store: Warehouse) -> Selection:
        """Return what a run is about."""
        return Selection(edition=getattr(self, "edition", ""))

    def plan(self, store: Warehouse) -> Plan:
        """Make the plan of a run in a warehouse."""
        return Plan(store, self.select(store))

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome of a run that finds nothing pending; None if something is, or if that
        is known only to the run."""
        return None

    @property
    def limit_usd(self) -> float | None:
        """The run's budget; None: no limit."""
        return getattr(self, "budget_usd", None)

    @property
    def uses_batches(self) -> bool:
        """Whether models are called through their batch APIs."""
        return getattr(self, "batch", None) is True


class AskOptions(FlowOptions):
    """Parameters of `ask`."""

    edition: str
    """its name in the warehouse."""
    agents: list[AskableAgent]
    """agents of `configs/agents.yaml` that can be asked."""
    assignments: list[str] | None = None
    """only these; all that have a prompt unless given."""
    first: Count | None = None
    """only this many pending reports of each agent, in the assignments' order."""
    budget_usd: Usd | None = None
    """the most this run may spend, or `unlimited`. Without it a run of a deployment that would pay
    fails at its start; a command has no limit."""

    def select(self, store: Warehouse) -> Selection:
        return Selection(
            edition=self.edition,
            agents=tuple(dict.fromkeys(self.agents)),  # one that is named twice is asked only once
            assignments=tuple(self.assignments or ()),
            first=self.first,
        )

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome if each agent has a report for every assignment."""
        if not is_done(plan, [REPORTS]):
            return None
        return f"{self.edition}: no report of {', '.join(self.agents)} is missing."


class FetchOptions(FlowOptions):
    """Parameters of `fetch`."""

    edition: str
    """its name in the warehouse."""
    agents: list[str] | None = None
    """only the pages that their reports cite; all unless given."""
    fallbacks: list[FetchSource] | None = None
    """sources for pages that fail; those of `configs/web.yaml` unless given."""
    again: bool = False
    """retry pages that failed before."""
    extractor: ExtractorName | None = None
    """who extracts claims that nobody has extracted: a judge, or `offline`; unless given, the
    default judge if it calls a model."""

    def select(self, store: Warehouse) -> Selection:
        return Selection(
            edition=self.edition,
            agents=tuple(self.agents or ()),
            judge=load_judges().default,
            extractor=self.extractor,
            fallbacks=None if self.fallbacks is None else tuple(self.fallbacks),
            again=self.again,
        )

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome if every cited page was requested from every source and read."""
        if not is_done(plan, (CLAIMS, *list_page_stages(plan))):  # claims tell what is cited
            return None
        if describe_open_pages(plan.store, self.edition, plan.selection.agents):
            return None
        return describe_archived(plan.store, self.edition)


class ReadOptions(FlowOptions):
    """Parameters of `read`."""

    edition: str
    """its name in the warehouse."""

    def select(self, store: Warehouse) -> Selection:
        return Selection(edition=self.edition)

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome if there are no fetched pages; they are read again each time."""
        if not is_done(plan, [READ_AGAIN]):
            return None
        return f"{self.edition}: there are no fetched pages to read again."


class EvaluateOptions(FlowOptions):
    """Parameters of `evaluate`."""

    edition: str
    """its name in the warehouse."""
    protocols: list[ProtocolName] | None = None
    """those made for the edition's source unless given."""
    agents: list[str] | None = None
    """all of the edition's unless given."""
    judge: JudgeName | None = None
    """the default of `configs/judges.yaml` unless given."""
    extractor: ExtractorName | None = None
    """who extracts facts and claims that nobody has extracted: a judge, or `offline`; unless given,
    the judge if it calls a model. Without a budget it must be named."""
    budget_usd: Usd | None = None
    """the most this run may spend on models, or `unlimited`. Without it a run of a deployment that
    would pay fails at its start; a command has no limit."""
    batch: bool = False
    """use the models' batch APIs: cheaper, within a day."""
    assignments: list[str] | None = None
    """judge only the reports of these; all unless given. The others count as open, so the figures
    are provisional."""
    extract_again: bool = False
    """have the extractor replace what others have extracted; what is published stays."""

    def select(self, store: Warehouse) -> Selection:
        return Selection(
            edition=self.edition,
            protocols=choose_protocols(store, self.edition, self.protocols or ()),
            agents=tuple(self.agents or ()),
            assignments=tuple(self.assignments or ()),
            judge=self.judge or load_judges().default,
            extractor=self.extractor,
            extract_again=self.extract_again,
        )

    def find_outcome(self, plan: Plan) -> str | None:
        """Return the outcome if every report is judged, scored and ranked."""
        return describe_judged(plan) if is_done(plan, EVALUATION) else None


class BringInOptions(FlowOptions):
    """Parameters of `bring_in`."""

    edition: str
    """its name."""
    source: str | None = None
    """the edition's folder, in a published layout; not needed for `sample`, which comes with
    Evergreen."""
    agents: list[str] | None = None
    """import and judge only these; all unless given."""
    judge: str | None = None
    """the default of `configs/judges.yaml` unless given."""
    protocols: list[str] | None = None
    """those made for the edition's source unless given."""


class BackfillOptions(FlowOptions):
    """Parameters of `backfill`."""

    agents: list[AskableAgent]
    """agents of `configs/agents.yaml` that can be asked."""
    editions: list[str] | None = None
    """all whose assignments have prompts unless given."""
    protocols: list[ProtocolName] | None = None
    """those made for the edition's source unless given."""
    judge: JudgeName | None = None
    """the default of `configs/judges.yaml` unless given."""
    extractor: ExtractorName | None = None
    """who extracts the claims: a judge, or `offline`; unless given, the judge if it calls a model.
    Without a budget it must be named."""
    first: Count | None = None
    """only this many pending reports of each edition."""
    budget_usd: Usd | None = None
    """the most this run may spend on reports and verdicts together, or `unlimited`. Without it a
    run of a deployment that would pay fails at its start; a command has no limit."""
    fetch_pages: bool = True
    """fetch the pages that their reports cite and that are not fetched yet."""


class RejudgeOptions(FlowOptions):
    """Parameters of `rejudge`."""

    edition: str
    """its name in the warehouse."""
    judge: JudgeName
    """the judge that judges again; cells it has judged already are not judged twice."""
    against: JudgeName | None = None
    """the judge to compare with; unless given, the default one, or the only other that has judged
    the edition."""
    agents: list[str] | None = None
    """only their reports; all unless given."""
    assignments: list[str] | None = None
    """only the reports of these; all unless given."""
    protocols: list[ProtocolName] | None = None
    """only these; unless given, all that the other judge has used on these reports."""
    budget_usd: Usd | None = None
    """the most this run may spend on models, or `unlimited`. Without it a run of a deployment that
    would pay fails at its start; a command has no limit."""
    batch: bool = False
    """use the models' batch APIs: cheaper, within a day."""
    publish_to: str | None = None
    """a folder for the site and for the figures that have changed. A run that resumes an
    interrupted one compares with the figures that that one started from."""


class PublishOptions(FlowOptions):
    """Parameters of `publish`."""

    edition: str
    """its name in the warehouse."""
    to: str
    """the site's folder; replaced as a whole, once everything is written."""
    judges: list[JudgeName] | None = None
    """only these judges' figures; every judge's unless given."""
    snapshots: Snapshots = "passages"
    """what to publish of archived pages: the `passages` that verdicts rest on, or the `whole`
    texts."""
    approve: bool = False
    """show what would be published and wait for a person's decision on this run's page."""
    approval_hours: Hours = 72.0
    """how long to wait for it. Afterwards nothing is published: a run of the command line ends as
    `Declined`; a run of a deployment stays suspended, and fails when somebody resumes it."""
