"""How the figures were made: protocols, prompts, judges, prices, statistics, dates."""

from collections.abc import Iterator
from typing import Any

from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import LlmJudgeEntry, load_judges, load_protocol
from tasks.judges.llm.prompts import Prompt
from tasks.metrics.resampling import RESAMPLES, SEED
from tasks.models.prices import load_prices
from tasks.protocols.registry import PROTOCOLS
from tasks.publishing.agreement import agreement_tables
from tasks.publishing.material import Material
from tasks.site.content import Site, Table
from tasks.site.environment import page
from tasks.site.folder import SiteFolder
from tasks.site.wording import dollars, moment, number
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
"""Folders of prompts that belong to no protocol."""


def method_page(material: Material, site: Site, folder: SiteFolder) -> None:
    folder.add(
        "method.html",
        page(
            "method.html",
            site=site,
            here="method.html",
            protocols=[_protocol(material, name) for name in material.protocols],
            prompts=list(_prompts(material)),
            judges=list(_judges(material)),
            judged=_judged(material),
            fetched=_fetched(material),
            agreement=agreement_tables(material),
            resamples=RESAMPLES,
            seed=SEED,
        ),
    )


def _protocol(material: Material, name: str) -> dict[str, Any]:
    protocol = material.protocols[name]
    built_in = load_protocol(name) if name in PROTOCOLS else None
    return {
        "name": name,
        "title": built_in.title if built_in else name,
        "source": built_in.source if built_in else "a rubric of the maintainer's own",
        "version": protocol.version,
        "parameters": sorted(built_in.parameters.items()) if built_in else [],
        "metrics": protocol.metrics,
    }


def _prompts(material: Material) -> Iterator[dict[str, str]]:
    """Every prompt that the protocols have, with its sha and its text, as it is now."""
    for folder in (*sorted(material.protocols), *SHARED_PROMPTS):
        for path in sorted((CONFIGS / "prompts" / folder).glob("*.md")):
            prompt = Prompt(path)
            text = path.read_text("utf-8")
            yield {"name": f"{folder}/{path.stem}", "sha": prompt.sha, "text": text}


def _judges(material: Material) -> Iterator[dict[str, Any]]:
    known, prices = load_judges().judges, load_prices()
    for name in material.judges:
        entry = known.get(name)
        about: list[tuple[str, str]] = []
        if isinstance(entry, LlmJudgeEntry):
            price = prices.of(entry.provider, entry.model, utc_now().date())
            about = [
                ("Model", f"{entry.provider}/{entry.model}"),
                ("Answers as", entry.answers_as or "set by its first answer"),
                ("Temperature", number(entry.temperature)),
                ("Source", entry.source),
                ("Checked", str(entry.checked)),
                ("Price", _price(price)),
            ]
        elif entry is not None:
            about = [("Kind", "embedded, lexical; no language model is used"),
                     ("Weights", entry.weights), ("Price", "free")]  # fmt: skip
        yield {"name": name, "title": material.judge_title(name), "about": about}


def _price(price: Any) -> str:
    if price is None:
        return "not known"
    live = price.live
    return (
        f"{dollars(live.input)} a million tokens in, {dollars(live.output)} out, since "
        f"{price.since} ({price.source}; checked {price.checked})"
    )


def _judged(material: Material) -> Table:
    frame = material.source.frame(JUDGED, [material.edition, list(material.judges)])
    heads = (("Protocol", False), ("Judge", False), ("Model version", False),
             ("Prompts or weights", False), ("Protocol's version", False), ("Reports", True),
             ("Verdicts", True), ("First", False), ("Last", False))  # fmt: skip
    rows = tuple(
        (material.protocol_title(r["protocol"]), material.judge_title(r["judge"]),
         r["model_version"], r["prompt_sha"][:16], r["protocol_version"], number(r["reports"]),
         number(r["verdicts"]), moment(r["first"]), moment(r["last"]))
        for r in frame.iter_rows(named=True)
    )  # fmt: skip
    return Table("What the published verdicts were made with, and when", heads, rows)


def _fetched(material: Material) -> Table:
    frame = material.source.frame(FETCHED, [material.edition])
    heads = (("Status", False), ("Who had it", False), ("Pages", True), ("Citations", True),
             ("First", False), ("Last", False))  # fmt: skip
    rows = tuple(
        (
            r["status"],
            r["source"] or "–",
            number(r["pages"]),
            number(r["citations"]),
            moment(r["first"]),
            moment(r["last"]),
        )
        for r in frame.iter_rows(named=True)
    )
    return Table("Cited pages, by what became of them", heads, rows)
