"""What people are shown, read from the warehouse: prose without apparatus, and evidence."""

from collections.abc import Sequence
from functools import lru_cache

from tasks.annotation.sheet import Text
from tasks.configuration.models import load_protocol
from tasks.extraction.prose import without_apparatus
from tasks.extraction.urls import same_page
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import one_line
from tasks.protocols.versions import checked_parameters
from tasks.protocols.wiki_fact import WikiFactParameters
from tasks.warehouse.store import Readable


class Evidence:
    """What the judges are given for a statement: the closest sentences of the other text."""

    def __init__(self, source: Readable, edition: str) -> None:
        self._source = source
        self._edition = edition
        entry = load_protocol("wiki_fact")
        self._top_k = checked_parameters(entry, WikiFactParameters).top_k
        self._pool = lru_cache(maxsize=64)(self._indexed)

    def of(self, step: str, agent: str, assignment: str, statement: str) -> list[str]:
        """Best first; at most as many as the protocol retrieves."""
        pool, index = self._pool(step, agent, assignment)
        return [pool[place] for place in index.top(statement, self._top_k)]

    def _indexed(self, step: str, agent: str, assignment: str) -> tuple[Sequence[str], Bm25]:
        found = self._claims(agent, assignment) if step == "coverage" else self._facts(assignment)
        return found, Bm25(found)

    def _facts(self, assignment: str) -> list[str]:
        frame = self._source.frame(
            "SELECT f.text FROM facts AS f JOIN assignments AS a USING (edition, article) "
            "WHERE f.edition = $1 AND a.assignment = $2 ORDER BY f.number",
            [self._edition, assignment],
        )
        return frame["text"].to_list()

    def _claims(self, agent: str, assignment: str) -> list[str]:
        """Without those that cite the target article itself, or what leads to it."""
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
            if not any(same_page(url, article) for url in cited or ())
        ]


def plain(statement: str) -> str:
    """A statement on one line, without citation markers."""
    return one_line(without_apparatus(statement))


def article_text(source: Readable, edition: str, assignment: str) -> Text:
    """The reference article of an assignment."""
    query = (
        "SELECT t.text FROM articles AS t JOIN assignments AS a USING (edition, article) "
        "WHERE t.edition = $1 AND a.assignment = $2"
    )
    return Text("", without_apparatus(source.frame(query, [edition, assignment]).item()))


def report_text(source: Readable, edition: str, agent: str, assignment: str) -> Text:
    """What an agent wrote for an assignment."""
    query = "SELECT text FROM reports WHERE edition = $1 AND agent = $2 AND assignment = $3"
    return Text("", without_apparatus(source.frame(query, [edition, agent, assignment]).item()))
