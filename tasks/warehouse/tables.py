"""Every table, in the order the data flows."""

from tasks.warehouse.calls import BatchJob, Call
from tasks.warehouse.labels import AnnotationItem, HumanLabel
from tasks.warehouse.results import Cell, Diagnostic, LeaderboardRow, Score, Verdict
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Citation,
    Claim,
    Edition,
    Extraction,
    Fact,
    ImportIssue,
    Page,
    Report,
    Row,
)

TABLES: tuple[type[Row], ...] = (
    Edition, Agent, Article, Assignment, Report, ImportIssue, Fact, Claim, Citation,
    Extraction, Page, Call, BatchJob, Cell, Verdict, Score, LeaderboardRow, Diagnostic,
    AnnotationItem, HumanLabel,
)  # fmt: skip
