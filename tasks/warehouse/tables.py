"""Every table, in the order the data flows."""

from tasks.warehouse.results import Call, Cell, Diagnostic, LeaderboardRow, Score, Verdict
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
    Extraction, Page, Call, Cell, Verdict, Score, LeaderboardRow, Diagnostic,
)  # fmt: skip
