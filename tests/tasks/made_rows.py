"""Rows of the warehouse's tables, made of the columns that a test is about."""

from datetime import UTC, datetime
from typing import Any, TypeVar

from tasks.warehouse.jobs import Job
from tasks.warehouse.operations import AuditEntry
from tasks.warehouse.results import AgentPair, Cell
from tasks.warehouse.rows import Row

RowT = TypeVar("RowT", bound=Row)
SHA = "0" * 64
BEGAN = datetime(2026, 11, 20, 6, tzinfo=UTC)
USUAL: dict[str, Any] = {
    "edition": "e", "agent": "a", "assignment": "x", "article": "x", "number": 0, "title": "X",
    "text": "A text.", "text_sha": SHA, "url": "https://example.org/x", "source_path": "x.md",
    "raw_url": "https://example.org/x", "kind": "explicit", "source": "offline",
    "protocol": "wiki_fact", "metric": "coverage_wiki", "step": "s", "item": "1", "judge": "j",
    "model": "m", "model_version": "m", "prompt": "p", "prompt_sha": SHA, "parameters": "{}",
    "cell_id": "c", "call_id": "c", "request_id": "r", "job": "j", "attempt": 1, "status": "ok",
    "state": "done", "value": 0.5, "macro": 0.5, "micro": 0.5, "n_items": 1, "n_reports": 1,
    "n_open": 0, "provisional": False, "provider": "p", "reply_schema": "{}", "system_prompt": "",
    "delivery": "live", "protocol_version": "1", "scorer_version": "1", "extractor_version": "1",
    "input_sha": SHA, "output_sha": SHA, "version": "1", "os_user": "u", "host": "h",
    "api_url": "https://wiki.example/w/api.php", "category": "c", "n_articles": 1, "rules": "{}",
    "formula_version": "1", "created_since": datetime(2026, 5, 1, tzinfo=UTC),
    "created_until": datetime(2026, 11, 1, tzinfo=UTC),
}  # fmt: skip
OTHERWISE: dict[type[Row], dict[str, Any]] = {
    Job: {"kind": "http"}, Cell: {"status": "done"},
    AuditEntry: {"kind": "command", "outcome": "ok", "began_at": BEGAN},
    AgentPair: {"other": "b", "n_pairs": 1, "seed": 1} | dict.fromkeys(
        ("difference", "low", "high", "effect_size", "better_share", "p", "p_adjusted")),
}  # fmt: skip


def a_row(model: type[RowT], **given: Any) -> RowT:
    """With these columns; what else a row of its table must have is the same in every test."""
    usual = {
        name: value
        for name, value in (USUAL | OTHERWISE.get(model, {})).items()
        if name in model.model_fields and model.model_fields[name].is_required()
    }
    return model.model_validate(usual | given)
