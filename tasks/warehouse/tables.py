"""Every table, in the order of the pipeline."""

from tasks.warehouse.calls import BatchJob, Call
from tasks.warehouse.jobs import CollectionCost, ImportIssue, Job, ReportFile
from tasks.warehouse.labels import AnnotationItem, HumanLabel
from tasks.warehouse.operations import (
    AuditEntry,
    FetchedEdition,
    KnownBackup,
    MonthRefresh,
    Publication,
)
from tasks.warehouse.pages import AbsentPage, Fetch, Page, SeedPage
from tasks.warehouse.questions import Question
from tasks.warehouse.results import AgentPair, Cell, Diagnostic, LeaderboardRow, Score, Verdict
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Citation,
    Claim,
    Edition,
    Extraction,
    Fact,
    Report,
    Row,
)
from tasks.warehouse.rubrics import ClickedDocument, KeyPoint, PointSet, Rubric, RubricBundle
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.truths import GroundTruth
from tasks.warehouse.wiki_editions import (
    ArticleLink,
    ArticleRevision,
    Candidate,
    Collection,
    ExcludedArticle,
)

TABLES: tuple[type[Row], ...] = (
    Edition, Collection, ExcludedArticle, Candidate, Agent, Article, ArticleRevision, ArticleLink,
    Question, Assignment, GroundTruth, RubricBundle, Rubric, PointSet, KeyPoint,
    ClickedDocument,
    Job, Report, ReportFile, CollectionCost, SearchTrace,
    ImportIssue, Fact, Claim, Citation, Extraction, SeedPage, Fetch, Page, AbsentPage,
    Call, BatchJob,
    Cell, Verdict, Score, LeaderboardRow, AgentPair, Diagnostic, AnnotationItem, HumanLabel,
    Publication, MonthRefresh, FetchedEdition, KnownBackup, AuditEntry,
)  # fmt: skip
