"""The texts on sheets, from the warehouse: prose without references, evidence, and excerpts of long
pages (the relevant sentences, with their neighbours)."""

from collections.abc import Sequence
from functools import lru_cache

from tasks.annotation.sheet import SheetText
from tasks.configuration.models import load_protocol
from tasks.extraction.prose import strip_apparatus
from tasks.extraction.urls import is_same_page
from tasks.judges.offline.retrieval import EvidenceRetriever
from tasks.judges.text import collapse_whitespace
from tasks.protocols.declarations import parse_parameters
from tasks.protocols.wiki_fact.protocol import WikiFactParameters
from tasks.warehouse.store import Readable

SHOWN_CHARACTERS = 4_000
"""Length up to which a page is shown whole, and approximate length of excerpts."""
NEIGHBOURS = 2
"""Sentences before and after each relevant one."""
GAP = "[…]"


class EvidenceIndex:
    """Finds the evidence that judges get: the other text's sentences closest to a statement."""

    def __init__(self, source: Readable, edition: str) -> None:
        self._source = source
        self._edition = edition
        entry = load_protocol("wiki_fact")
        self._top_k = parse_parameters(entry, WikiFactParameters).top_k
        self._pool = lru_cache(maxsize=64)(self._build_index)

    def find(self, step: str, agent: str, assignment: str, statement: str) -> list[str]:
        """Return the evidence, best first, at most as many sentences as the protocol retrieves."""
        pool, index = self._pool(step, agent, assignment)
        return [pool[place] for place in index.top(statement, self._top_k)]

    def _build_index(
        self, step: str, agent: str, assignment: str
    ) -> tuple[Sequence[str], EvidenceRetriever]:
        by_coverage = step == "coverage"
        pool = self._load_claims(agent, assignment) if by_coverage else self._load_facts(assignment)
        return pool, EvidenceRetriever(pool)

    def _load_facts(self, assignment: str) -> list[str]:
        frame = self._source.frame(
            "SELECT f.text FROM facts AS f JOIN assignments AS a USING (edition, article) "
            "WHERE f.edition = $1 AND a.assignment = $2 ORDER BY f.number",
            [self._edition, assignment],
        )
        return frame["text"].to_list()

    def _load_claims(self, agent: str, assignment: str) -> list[str]:
        """Load the claims, without those that cite the article itself or a redirect to it."""
        frame = self._source.frame(
            "SELECT c.text, t.url, list_filter(list(z.url) || list(p.final_url), "
            "lambda url: url IS NOT NULL) AS cited "
            "FROM claims AS c JOIN assignments AS a USING (edition, assignment) "
            "JOIN articles AS t USING (edition, article) "
            "LEFT JOIN citations AS z USING (edition, agent, assignment, number) "
            "LEFT JOIN pages AS p ON p.edition = c.edition AND p.url = z.url "
            "WHERE c.edition = $1 AND c.agent = $2 AND c.assignment = $3 "
            "GROUP BY c.number, c.text, t.url ORDER BY c.number",
            [self._edition, agent, assignment],
        )
        return [
            text
            for text, article, cited in frame.iter_rows()
            if not any(is_same_page(url, article) for url in cited or ())
        ]


def strip_markers(statement: str) -> str:
    """Return a statement on one line, without citation markers."""
    return collapse_whitespace(strip_apparatus(statement))


def load_article_text(source: Readable, edition: str, assignment: str) -> SheetText:
    """Load the reference article of an assignment."""
    query = (
        "SELECT t.text FROM articles AS t JOIN assignments AS a USING (edition, article) "
        "WHERE t.edition = $1 AND a.assignment = $2"
    )
    return SheetText("", strip_apparatus(source.frame(query, [edition, assignment]).item()))


def load_report_text(source: Readable, edition: str, agent: str, assignment: str) -> SheetText:
    """Load an agent's report for an assignment."""
    query = "SELECT text FROM reports WHERE edition = $1 AND agent = $2 AND assignment = $3"
    return SheetText("", strip_apparatus(source.frame(query, [edition, agent, assignment]).item()))


def cut_passage(heading: str, sentences: Sequence[str], relevant: Sequence[int]) -> SheetText:
    """Cut a page to the sentences around those at `relevant` (best first), or to its beginning.

    A note says how much of the page is shown, if not all.
    """
    whole = sum(map(len, sentences))
    if whole <= SHOWN_CHARACTERS:
        return SheetText(heading, "\n\n".join(sentences))
    kept = _select_around(relevant, sentences) if relevant else _select_beginning(sentences)
    lines: list[str] = []
    last = -1
    for index in kept:
        if index != last + 1:
            lines.append(GAP)
        lines.append(sentences[index])
        last = index
    if last != len(sentences) - 1:
        lines.append(GAP)
    shown = sum(len(sentences[index]) for index in kept)
    which = "around the sentences closest to the statement" if relevant else (
        "its beginning, because no sentence shares a word with the statement"
    )  # fmt: skip
    note = f"Cut: {shown:,} of {whole:,} characters are shown, {which}."
    return SheetText(heading, "\n\n".join(lines), note)


def _select_around(relevant: Sequence[int], sentences: Sequence[str]) -> list[int]:
    """Return the indexes of relevant sentences and their neighbours, up to the limit."""
    kept: set[int] = set()
    for index in relevant:
        first, last = max(0, index - NEIGHBOURS), min(len(sentences) - 1, index + NEIGHBOURS)
        more = kept | set(range(first, last + 1))
        if kept and sum(len(sentences[place]) for place in more) > SHOWN_CHARACTERS:
            break
        kept = more
    return sorted(kept)


def _select_beginning(sentences: Sequence[str]) -> list[int]:
    kept: list[int] = []
    length = 0
    for index, sentence in enumerate(sentences):
        length += len(sentence)
        if kept and length > SHOWN_CHARACTERS:
            break
        kept.append(index)
    return kept
