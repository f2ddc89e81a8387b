"""The method page: protocols, prompts, judges, their agreement, prices, statistics, dates."""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from tasks.annotation.agreement import compare_judges_and_people
from tasks.annotation.labels import load_labels
from tasks.configuration.folders import list_files
from tasks.configuration.models import (
    ExtensionJudgeEntry,
    LlmJudgeEntry,
    ProtocolEntry,
    load_judges,
    load_protocol,
)
from tasks.judges.llm.prompts import Prompt
from tasks.metrics.resampling import RESAMPLES, SEED
from tasks.models.prices import ModelPrice, load_prices
from tasks.protocols.registry import PROTOCOLS, get_protocol_title
from tasks.publishing.material import SiteMaterial
from tasks.scoring.board_notes import describe_completeness, describe_missing
from tasks.scoring.extractors import describe_extractors
from tasks.site.content import SiteTable
from tasks.site.environment import SitePages
from tasks.site.wording import format_dollars, format_figure, format_moment, format_number
from tasks.warehouse.rows import utc_now

JUDGED = """
SELECT c.protocol, c.judge, c.model_version, c.prompt_sha, c.protocol_version,
    count(*) AS reports, sum(c.n_verdicts)::BIGINT AS verdicts, min(c.finished_at) AS first,
    max(c.finished_at) AS last
FROM cells AS c
WHERE c.edition = $1 AND list_contains($2, c.judge)
    AND c.cell_id IN (SELECT DISTINCT cell_id FROM scores WHERE cell_id IS NOT NULL)
GROUP BY ALL ORDER BY ALL
"""
FETCHED = """
SELECT coalesce(p.status, 'never fetched') AS status,
    CASE WHEN p.url IS NOT NULL THEN coalesce(p.source, 'published') END AS source,
    count(*) AS pages, sum(c.citations)::BIGINT AS citations, min(p.fetched_at) AS first,
    max(p.fetched_at) AS last
FROM (SELECT edition, url, count(*) AS citations FROM citations GROUP BY ALL) AS c
LEFT JOIN pages AS p USING (edition, url)
WHERE c.edition = $1 GROUP BY ALL ORDER BY pages DESC, status
"""
SHARED_PROMPTS = ("extraction",)
"""Prompt folders that belong to no protocol."""
AGREEMENT_COLUMNS = (("Protocol", False), ("Step", False), ("First", False), ("Second", False),
           ("Alike", True), ("95 % interval", True), ("Kappa", True), ("95 % interval", True),
           ("Items", True), ("Assignments", True))  # fmt: skip
AGREEMENT_NOTE = (
    "Alike: percent of the items decided by both that have the same label. Kappa: Cohen's kappa, "
    "agreement beyond chance. Intervals: bootstrap over assignments."
)


def write_method_page(material: SiteMaterial, pages: SitePages) -> None:
    pages.add(
        "method.html",
        protocols=[_describe_protocol(material, name) for name in material.protocols],
        prompts=list(_list_prompts(material)),
        judges=list(_describe_judges(material)),
        judged=_make_judged_table(material),
        fetched=_make_fetched_table(material),
        agreement=make_agreement_tables(material),
        resamples=RESAMPLES,
        seed=SEED,
        unranked=describe_completeness(),
        extractors=describe_extractors(material.source, material.edition, material.agents),
    )


def _describe_protocol(material: SiteMaterial, name: str) -> dict[str, Any]:
    protocol = material.protocols[name]
    built_in = load_protocol(name) if name in PROTOCOLS else None
    return {
        "name": name,
        "title": get_protocol_title(name),
        "source": built_in.source if built_in else "a rubric by the site's maintainer",
        "version": protocol.version,
        "parameters": list_settings(built_in) if built_in else [],
        "pairs": built_in.pairs if built_in else "",
        "metrics": [
            (metric, describe_missing(metric, protocol.missing)) for metric in protocol.metrics
        ],
    }


def list_settings(built_in: ProtocolEntry) -> list[tuple[str, str]]:
    """Return the settings, with values as the protocol's file has them: `false`, `null`."""
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in sorted(built_in.parameters.items())
    ]


def _list_prompts(material: SiteMaterial) -> Iterator[dict[str, str]]:
    """Yield the current prompts of the protocols, each with sha and text."""
    for folder in (*sorted(material.protocols), *SHARED_PROMPTS):
        for path in list_files(f"prompts/{folder}", [".md"]).values():
            text = path.read_text("utf-8")
            yield {"name": f"{folder}/{path.stem}", "sha": Prompt(path).sha, "text": text}


def _describe_judges(material: SiteMaterial) -> Iterator[dict[str, Any]]:
    known, prices = load_judges().judges, load_prices()
    for name in material.judges:
        entry = known.get(name)
        about: list[tuple[str, str]] = []
        if isinstance(entry, LlmJudgeEntry):
            price = prices.of(entry.provider, entry.model, utc_now().date())
            about = [
                ("Model", f"{entry.provider}/{entry.model}"),
                ("Model version", entry.answers_as or "set by its first answer"),
                ("Temperature", format_number(entry.temperature)),
                ("Source", entry.source),
                ("Checked", str(entry.checked)),
                ("Price", _format_price(price)),
            ]
        elif isinstance(entry, ExtensionJudgeEntry):
            about = [("Kind", f"{entry.kind}, a judge of another package")]
        elif entry is not None:
            about = [("Kind", "embedded, lexical, without a language model"),
                     ("Weights", entry.weights), ("Price", "free")]  # fmt: skip
        yield {"name": name, "title": material.judge_title(name), "about": about}


def _format_price(price: ModelPrice | None) -> str:
    if price is None:
        return "not known"
    live = price.live
    return (
        f"{format_dollars(live.input)} per million tokens in, {format_dollars(live.output)} out, "
        f"since {price.since} ({price.source}, checked {price.checked})"
    )


def _make_judged_table(material: SiteMaterial) -> SiteTable:
    frame = material.source.frame(JUDGED, [material.edition, list(material.judges)])
    heads = (("Protocol", False), ("Judge", False), ("Model version", False),
             ("Prompts or weights", False), ("Protocol version", False), ("Reports", True),
             ("Verdicts", True), ("First", False), ("Last", False))  # fmt: skip
    rows = tuple(
        (material.protocol_title(r["protocol"]), material.judge_title(r["judge"]),
         r["model_version"], r["prompt_sha"][:16], r["protocol_version"],
         format_number(r["reports"]), format_number(r["verdicts"]), format_moment(r["first"]),
         format_moment(r["last"]))
        for r in frame.iter_rows(named=True)
    )  # fmt: skip
    return SiteTable("Versions and dates of the verdicts", heads, rows)


def _make_fetched_table(material: SiteMaterial) -> SiteTable:
    frame = material.source.frame(FETCHED, [material.edition])
    heads = (("Status", False), ("Fetched from", False), ("Pages", True), ("Citations", True),
             ("First", False), ("Last", False))  # fmt: skip
    rows = tuple(
        (
            r["status"],
            r["source"] or "–",
            format_number(r["pages"]),
            format_number(r["citations"]),
            format_moment(r["first"]),
            format_moment(r["last"]),
        )
        for r in frame.iter_rows(named=True)
    )
    return SiteTable("Cited pages by status", heads, rows)


def make_agreement_tables(material: SiteMaterial) -> list[SiteTable]:
    """Make the tables that have rows: judges and people with each other."""
    people = load_labels(material.source, material.edition)
    found = compare_judges_and_people(
        material.source, material.edition, people, judges=material.judges
    )
    tables = (
        ("Judges with each other", found.between_judges, "judge_a", "judge_b"),
        ("Judges with people", found.with_people, "judge", "person"),
        ("People with each other", found.between_people, "person_a", "person_b"),
    )
    return [
        SiteTable(title, AGREEMENT_COLUMNS, rows, AGREEMENT_NOTE)
        for title, frame, one, other in tables
        if (rows := tuple(_format_rows(material, frame, one, other)))
    ]


def _format_rows(
    material: SiteMaterial, frame: pl.DataFrame, one: str, other: str
) -> Iterator[tuple[str, ...]]:
    for row in frame.iter_rows(named=True):
        if not row["n_items"]:
            continue
        yield (
            material.protocol_title(row["protocol"]),
            row["step"].replace("_", " "),
            material.judge_title(row[one]),
            material.judge_title(row[other]),
            format_figure(row["alike"]),
            _format_range(format_figure(row["alike_low"]), format_figure(row["alike_high"])),
            format_number(row["kappa"]),
            _format_range(format_number(row["kappa_low"]), format_number(row["kappa_high"])),
            format_number(row["n_items"]),
            format_number(row["n_assignments"]),
        )


def _format_range(low: str, high: str) -> str:
    return "–" if low == "–" or high == "–" else f"{low} to {high}"
