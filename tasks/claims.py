"""Stage claims: extract facts from articles and claims from reports that have none yet.

Published facts and claims come with the import; the offline extractor or a judge adds the rest.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

from tasks.base import format_count
from tasks.extraction.claims import DOUBTED, EXTRACTOR_VERSION, extract_claims
from tasks.extraction.facts import extract_facts
from tasks.extraction.rows import build_changes
from tasks.extraction.texts import (
    CITING,
    RESEARCH,
    PendingExtraction,
    Statements,
    build_extractor_version,
    build_request,
    locate_statements,
)
from tasks.judges.decisions import VersionedJudge
from tasks.judges.registry import OFFLINE, load_judge, resolve_extractor
from tasks.judging.session import judge_session
from tasks.models.errors import may_pass
from tasks.outcome import PartLeft
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import TEXT_SECONDS, HelperProcesses
from tasks.protocols.registry import get_protocol
from tasks.run import Plan, RunContext, Selection
from tasks.stage import (
    ARTICLES,
    OnProgress,
    Output,
    Stage,
    StageCounts,
    Worker,
    split_by,
)
from tasks.warehouse.rows import Claim, Fact
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.writer import Change

TEXTS = """
SELECT r.agent, r.assignment, a.article, a.kind, coalesce(a.query, t.title) AS title,
    coalesce(x.input_sha = r.text_sha, false) AS is_current, x.source, x.extractor_version,
    coalesce(x.source = 'judge' AND x.n_items = 0 AND x.n_offline IS NULL, false) AS is_undoubted,
    EXISTS (SELECT 1 FROM verdicts AS v WHERE v.edition = r.edition AND v.assignment = r.assignment
        AND (v.agent = r.agent OR r.agent = '') AND v.call_id IS NOT NULL) AS is_paid
FROM {texts} AS r
JOIN assignments AS a ON a.edition = r.edition AND a.assignment = r.assignment
    AND a.kind <> 'find_claims'
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
LEFT JOIN extractions AS x
    ON x.edition = r.edition AND x.agent = r.agent AND x.assignment = r.assignment
WHERE r.edition = $1 AND r.text <> ''
ORDER BY r.agent, r.assignment
"""
ARTICLE_TEXTS = (
    "(SELECT a.edition, '' AS agent, a.assignment, t.text, t.text_sha "
    "FROM assignments AS a JOIN articles AS t USING (edition, article) "
    "WHERE a.kind = 'write_article')"
)
COUNTS = """
SELECT 'facts' AS stage, count(x.assignment) AS done, count(*) - count(x.assignment) AS pending,
    0 AS final
FROM assignments AS a LEFT JOIN extractions AS x
    ON x.edition = a.edition AND x.assignment = a.assignment AND x.agent = ''
WHERE a.edition = $1 AND a.kind = 'write_article'
UNION ALL
SELECT 'claims', count(x.assignment),
    count(*) FILTER (x.assignment IS NULL AND r.status <> 'scanned'),
    count(*) FILTER (x.assignment IS NULL AND r.status = 'scanned')
FROM reports AS r
JOIN assignments AS a
    ON a.edition = r.edition AND a.assignment = r.assignment AND a.kind <> 'find_claims'
LEFT JOIN extractions AS x
    ON x.edition = r.edition AND x.agent = r.agent AND x.assignment = r.assignment
    AND x.input_sha = r.text_sha
WHERE r.edition = $1 AND r.status <> 'empty'
"""


class ExtractionFailed(PartLeft):
    """The statements of some texts could not be extracted; the next run tries again."""


class KeptExtraction(NamedTuple):
    """A text whose statements another extractor has made, and that a run leaves as they are."""

    item: PendingExtraction
    source: str
    extractor_version: str


def find_pending_extractions(
    warehouse: Readable,
    edition: str,
    agents: Sequence[str] = (),
    extractor: VersionedJudge | None = None,
    *,
    again: bool = False,
) -> list[PendingExtraction]:
    """Return articles without facts and reports without claims, by agent; articles first.

    Statements of an unchanged text stay, whoever has extracted them, unless they can be made
    again at no cost: an earlier version of the offline extractor's, by that one, if no model was
    paid to judge these reports, and the answers of this judge, model and prompt, which the ledger
    has.

    again: also those of every other extractor and version, and empty lists that nobody doubted;
        published statements stay.
    """
    found = []
    for item, made, ours in _list_texts(warehouse, edition, agents, extractor):
        action = _choose_action(item, made, ours)
        if action == "extract" or (again and action in ("update", "keep")):
            found.append(item)
        elif action == "update":
            found.append(item.model_copy(update={"stays_offline": True}))
    return found


def find_kept_extractions(
    warehouse: Readable,
    edition: str,
    agents: Sequence[str] = (),
    extractor: VersionedJudge | None = None,
) -> list[KeptExtraction]:
    """Return the texts that this extractor extracts only with `again`."""
    return [
        KeptExtraction(item, made["source"], made["extractor_version"])
        for item, made, ours in _list_texts(warehouse, edition, agents, extractor)
        if _choose_action(item, made, ours) in ("update", "keep")
    ]


def _list_texts(
    warehouse: Readable, edition: str, agents: Sequence[str], extractor: VersionedJudge | None
) -> Iterator[tuple[PendingExtraction, dict[str, Any], str]]:
    """Yield every text, what is known of its extraction, and this extractor's version for it."""
    for texts, of_reports in ((ARTICLE_TEXTS, False), ("reports", True)):
        versions = {
            research: build_extractor_version(
                extractor, of_reports=of_reports, by_attribution=research
            )
            for research in (False, True)
        }
        for row in warehouse.frame(TEXTS.format(texts=texts), [edition]).iter_rows(named=True):
            if agents and row["agent"] not in ("", *agents):
                continue
            known = ("is_current", "source", "extractor_version", "is_paid")
            made = {key: row.pop(key) for key in known}
            yield (
                PendingExtraction(edition=edition, **row), made, versions[row["kind"] == RESEARCH]
            )  # fmt: skip


def _choose_action(
    item: PendingExtraction, made: dict[str, Any], ours: str
) -> Literal["extract", "update", "keep", "done"]:
    """Decide about a text: `update` has the offline extractor replace what an earlier version of it
    made, whoever extracts other texts. ours: the version of the run's extractor."""
    if not made["is_current"]:
        return "extract"
    version = made["extractor_version"]
    if item.is_undoubted:
        return "keep"
    if made["source"] == "published" or version == ours:
        return "done"
    if made["source"] == "offline":
        return "keep" if version == EXTRACTOR_VERSION or made["is_paid"] else "update"
    same_answers = version.startswith(ours.removesuffix(CITING).rstrip())
    return "extract" if same_answers else "keep"


def load_texts(warehouse: Readable, items: Sequence[PendingExtraction]) -> dict[str, str]:
    """Return assignment → text of one agent's reports, or of articles: DuckDB takes as long to read
    one as to read all."""
    texts, asked = (
        "reports" if items[0].agent else ARTICLE_TEXTS,
        [item.assignment for item in items],
    )
    sql = (
        f"SELECT assignment, text FROM {texts} AS t "
        "WHERE edition = $1 AND agent = $2 AND assignment IN (SELECT unnest($3))"
    )
    found = warehouse.frame(sql, [items[0].edition, items[0].agent, asked])
    return dict(found.iter_rows())


def select_extractions(plan: Plan) -> list[PendingExtraction]:
    """Return the texts whose statements are to be extracted.

    A model extracts only what the selected protocols use, the offline extractor everything.
    """
    of = plan.selection
    extractor = load_judge(of.extracting_judge) if of.extracting_judge else None
    found = find_pending_extractions(
        plan.store, of.edition, of.agents, extractor, again=of.extract_again
    )
    return [
        item
        for item in found
        if of.includes(item.assignment)
        and (extractor is None or item.stays_offline or _uses_statements(of, item))
    ]


def select_bought_extractions(plan: Plan) -> list[PendingExtraction]:
    """Return those of the texts that a model is to extract."""
    if plan.selection.extracting_judge is None:
        return []
    return [item for item in plan.find_pending(CLAIMS) if not item.stays_offline]


def describe_kept_extractions(plan: Plan) -> str | None:
    """Say which statements a model is going to judge that another has extracted, and how to replace
    them; None if there are none."""
    of = plan.selection
    if of.extract_again or resolve_extractor(of.judge, None) == OFFLINE:
        return None
    extractor = load_judge(of.extracting_judge or of.judge)
    kept: Counter[tuple[str, str]] = Counter()
    for item, source, version in find_kept_extractions(
        plan.store, of.edition, of.agents, extractor
    ):
        if of.includes(item.assignment) and _uses_statements(of, item):
            by = "offline" if source == "offline" else f"by the judge {version}"
            kept["claims" if item.agent else "facts", by] += 1
    if not kept:
        return None
    named = ", ".join(
        f"{what} of {format_count(n, 'report' if what == 'claims' else 'article')} (extracted {by})"
        for (what, by), n in sorted(kept.items())
    )
    asked = "" if extractor.name == of.judge else f"--extractor {extractor.name} "
    return (
        f"Extracted already, and kept: {named}. To have {extractor.name} extract them: "
        f"evergreen evaluate --edition {of.edition} --judge {of.judge} {asked}--extract-again"
    )


def _uses_statements(of: Selection, item: PendingExtraction) -> bool:
    """Whether any of the protocols uses the statements of a text; without protocols claims alone
    are used: they tell which pages are cited."""
    if not of.protocols:
        return bool(item.agent)
    wanted = "claims" if item.agent else "facts"
    return any(
        wanted in protocol.inputs and item.kind in protocol.kinds
        for protocol in map(get_protocol, of.protocols)
    )


class Extractor:
    """Extracts the statements of texts and writes them. judge: who is asked; None: the offline
    extractor."""

    def __init__(self, store: Warehouse, helpers: HelperProcesses, judge: Any | None) -> None:
        self._store = store
        self._helpers = helpers
        self._judge = judge
        self._done: set[PendingExtraction] = set()  # not done again when a part is retried

    async def extract(self, items: Sequence[PendingExtraction], on_progress: OnProgress) -> None:
        """Extract the statements of one agent's reports (or of the articles), text by text.

        Raises:
            ExtractionFailed: some texts took too long, or the judge gave no usable answer for them;
                the others are done.
        """
        items = [item for item in items if item not in self._done]
        texts = await asyncio.to_thread(load_texts, self._store, items)
        of = [(item, texts[item.assignment]) for item in items]
        bought = [each for each in of if self._judge and not each[0].stays_offline]
        # One by one, so that slow texts of an agent keep one helper busy and leave the others.
        problems = [await self._extract_offline(*each) for each in of if each not in bought]
        problems += await asyncio.gather(*(self._extract_with_judge(*each) for each in bought))
        if failed := [problem for problem in problems if problem]:
            raise ExtractionFailed(
                f"{len(failed)} of {len(items)} texts: {'; '.join(map(str, failed[:3]))}",
                may_pass=any(problem.may_pass for problem in failed),
                left=len(failed),
            )

    async def _extract_offline(self, item: PendingExtraction, text: str) -> ExtractionFailed | None:
        """Write the statements of one text; if that fails, write nothing and return why."""
        try:
            changes = build_changes(item, text, await _run_offline(self._helpers, item, text), None)
        except (LimitExceeded, HelperFailed) as error:
            return ExtractionFailed(f"{item.title}: extracting its statements {error}")
        await self._store.write_async(*changes)
        self._done.add(item)
        return None

    async def _extract_with_judge(
        self, item: PendingExtraction, text: str
    ) -> ExtractionFailed | None:
        """Write the statements of one text; if that fails, write nothing and return why.

        An empty list is asked about once more where the offline extractor finds some, then kept.
        """
        judge: Any = self._judge
        request, n_offline = build_request(item, text), None
        answer = await judge.extract(request)
        try:
            if answer.value == ():
                n_offline = len(await _run_offline(self._helpers, item, text))
                if n_offline >= DOUBTED:
                    answer = await judge.extract(request, again=True)
            if answer.value is None:
                said = f"{item.title}: {answer.reason}"
                return ExtractionFailed(said, may_pass=may_pass(answer.reason))
            found = await self._helpers.run(
                locate_statements, item, text, answer.value, seconds=TEXT_SECONDS
            )
        except (LimitExceeded, HelperFailed) as error:
            return ExtractionFailed(f"{item.title}: finding its statements in it {error}")
        await self._store.write_async(*build_changes(item, text, found, judge, n_offline))
        self._done.add(item)
        return None


async def read_offline(
    store: Warehouse, helpers: HelperProcesses, item: PendingExtraction
) -> list[Change]:
    """Return the rows of what the offline extractor finds in a text, within a helper's limits."""
    text = load_texts(store, [item])[item.assignment]
    return build_changes(item, text, await _run_offline(helpers, item, text), None)


async def _run_offline(helpers: HelperProcesses, item: PendingExtraction, text: str) -> Statements:
    extract: Callable[[str, str], Statements] = extract_claims if item.agent else extract_facts
    return await helpers.run(extract, item.title, text, seconds=TEXT_SECONDS)


@asynccontextmanager
async def _open(
    run: RunContext, todo: Sequence[PendingExtraction]
) -> AsyncIterator[Worker[list[PendingExtraction]]]:
    name = run.plan.selection.extracting_judge
    if name is None or all(item.stays_offline for item in todo):
        yield Worker(Extractor(run.store, run.helpers, None).extract)
        return
    async with judge_session(run, name) as session:
        yield Worker(
            Extractor(run.store, run.helpers, session.judge).extract,
            count_answers=lambda part: session.count_answers(),
        )


def _count(plan: Plan) -> Iterator[StageCounts]:
    edition = plan.selection.edition
    for record in plan.store.frame(COUNTS, [edition]).iter_rows(named=True):
        yield StageCounts(edition=edition, **record)


CLAIMS = Stage(
    name="claims",
    task="extract_statements",
    item="text",
    inputs=("articles", "reports"),
    outputs=(Output("fact", Fact), Output("claim", Claim)),
    find_pending=select_extractions,
    open=_open,
    split=split_by(lambda item: item.agent),
    title=lambda items: items[0].agent or ARTICLES,
    size=len,
    count=_count,
)
