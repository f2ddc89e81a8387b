"""Find texts whose facts or claims are to be extracted."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from tasks.base import Frozen
from tasks.extraction.claims import EXTRACTOR_VERSION, ExtractedClaims
from tasks.extraction.facts import ExtractedFact, locate_facts
from tasks.extraction.sentences import remove_marks
from tasks.extraction.statements import cite_statements
from tasks.judges.decisions import VersionedJudge
from tasks.judges.questions.extract_statements import (
    ExtractClaims,
    ExtractedStatement,
    ExtractFacts,
)
from tasks.warehouse.store import Readable, Warehouse

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
RESEARCH = "research"
"""The kind of assignments whose claims are extracted as DeepResearchGym does."""
CITING = "cites-2"
"""The version of how the pages of a judge's claims are found. Raising it has the same answers read
again from the ledger."""
ARTICLE_TEXTS = (
    "(SELECT a.edition, '' AS agent, a.assignment, t.text, t.text_sha "
    "FROM assignments AS a JOIN articles AS t USING (edition, article) "
    "WHERE a.kind = 'write_article')"
)
Statements = ExtractedClaims | Sequence[ExtractedFact]
"""What was extracted from a report, or from an article."""


class PendingExtraction(Frozen):
    """A text whose statements are to be extracted: a report, or (agent '') an article."""

    edition: str
    agent: str
    assignment: str
    article: str
    kind: str
    """The kind of the assignment."""
    title: str
    is_undoubted: bool = False
    """Whether a judge's list of an earlier version is empty: to doubt it costs another request."""
    stays_offline: bool = False
    """Whether the offline extractor extracts it, whoever extracts other texts."""

    @property
    def by_attribution(self) -> bool:
        """Whether a judge that extracts claims attributes their sources, as DeepResearchGym's does;
        in reports that write an article it copies the next markers, as in the Wiki Live Challenge.
        """
        return self.kind == RESEARCH


class KeptExtraction(NamedTuple):
    """A text whose statements another extractor has made, and that a run leaves as they are."""

    item: PendingExtraction
    source: str
    extractor_version: str


def build_extractor_version(
    extractor: VersionedJudge | None, *, of_reports: bool, by_attribution: bool = False
) -> str:
    """Return the stored version of an extractor of facts, or of reports' claims; None is the
    offline extractor."""
    if extractor is None:
        return EXTRACTOR_VERSION
    prompts = "research_extraction" if of_reports and by_attribution else "extraction"
    version = f"{extractor.name} {extractor.model_version} {extractor.prompt_sha(prompts)[:8]}"
    return f"{version} {CITING}" if of_reports else version


def build_request(item: PendingExtraction, text: str) -> ExtractClaims | ExtractFacts:
    """Build what a judge is asked to extract the statements of a text."""
    if item.agent:
        return build_claims_request(item, text)
    return ExtractFacts(title=item.title, text=text)


def build_claims_request(item: PendingExtraction, text: str) -> ExtractClaims:
    """Build what a judge is asked to extract the claims of a report."""
    if item.by_attribution:
        return ExtractClaims(title=item.title, text=text, prompt="research_extraction/claims")
    return ExtractClaims(title=item.title, text=text)


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


def load_text(warehouse: Warehouse, item: PendingExtraction) -> str:
    """Load the text whose statements are to be extracted."""
    if item.agent:
        text = warehouse.value(
            "SELECT text FROM reports WHERE edition = $1 AND agent = $2 AND assignment = $3",
            [item.edition, item.agent, item.assignment],
        )
    else:
        text = warehouse.value(
            "SELECT text FROM articles WHERE edition = $1 AND article = $2",
            [item.edition, item.article],
        )
    return str(text)


def locate_statements(
    item: PendingExtraction, text: str, statements: Sequence[ExtractedStatement]
) -> Statements:
    """Find where a text has a judge's statements, and what its claims cite."""
    if item.agent:
        cited = [(statement.text, statement.markers) for statement in statements]
        return cite_statements(item.title, text, cited, by_attribution=item.by_attribution)
    texts = [statement.text for statement in statements]
    places = locate_facts(texts, text)
    return [
        ExtractedFact(remove_marks(fact), *place) for fact, place in zip(texts, places, strict=True)
    ]
