"""The kinds of sheets there are: what a person is told, and what of an edition can be asked.

A new kind is one function that finds its subjects, and one entry of KINDS. Where one question
is asked of a judge and of people, both see the same: what is retrieved as evidence is
retrieved here again, and shown without a word of what any judge made of it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tasks.annotation.passages import passage
from tasks.annotation.sheet import FIRST, SECOND, TIE, Decision, Form, Shown, Subject, Text
from tasks.annotation.texts import Evidence, article_text, plain, report_text
from tasks.configuration.criteria import load_criteria
from tasks.configuration.models import load_protocol
from tasks.judges.decisions import CONFLICT, CONSISTENT, INCONSISTENT, NOT_SUPPORT, SUPPORT
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import readable, sentences
from tasks.protocols.versions import checked_parameters
from tasks.protocols.wiki_writing import WikiWritingParameters
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

REFERENCE, REPORT = "reference", "report"
_TAG = re.compile(r"<[/!a-zA-Z][^<>]{0,500}>")
"""Some archived pages are HTML, which a person cannot read."""
PASSAGES = 5
"""Sentences of a cited page around which it is shown."""
NO_EVIDENCE = "(No sentence of the other text shares a word with the statement.)"


@dataclass(frozen=True)
class Kind:
    """One kind of sheet."""

    form: Form
    find: Callable[[Readable, str], list[Subject]]
    """Everything of an edition that could be asked, without reading what is long."""
    verdict_labels: tuple[str, ...]
    """The answers in the words of the judges' verdicts; empty where no judge is asked."""
    steps: tuple[str, ...] = ()
    """Of the protocol; empty for all."""


def criteria_subjects(source: Readable, edition: str) -> list[Subject]:
    """Each report beside its reference article, by every writing criterion."""
    parameters = checked_parameters(load_protocol("wiki_writing"), WikiWritingParameters)
    decisions = tuple(
        Decision(category.id, criterion.id, criterion.text)
        for category in load_criteria(parameters.criteria).categories
        for criterion in category.all_criteria
    )
    found = source.frame(
        "SELECT r.agent, r.assignment, t.text_sha, r.text_sha FROM reports AS r "
        "JOIN assignments AS a USING (edition, assignment) "
        "JOIN articles AS t USING (edition, article) "
        "WHERE r.edition = $1 AND r.status = 'ok' ORDER BY ALL",
        [edition],
    )
    return [
        Subject(
            assignment=assignment,
            agent=agent,
            decisions=decisions,
            texts_sha=content_sha(*shas),
            show=lambda agent=agent, assignment=assignment: Shown(  # type: ignore[misc]
                (
                    article_text(source, edition, assignment),
                    report_text(source, edition, agent, assignment),
                ),
                tuple(decision.content for decision in decisions),
            ),
            sides=(REFERENCE, REPORT),
        )
        for agent, assignment, *shas in found.iter_rows()
    ]


def report_subjects(source: Readable, edition: str) -> list[Subject]:
    """Each two agents' reports on the same assignment."""
    found = source.frame(
        "SELECT x.assignment, x.agent, y.agent, x.text_sha, y.text_sha FROM reports AS x "
        "JOIN reports AS y USING (edition, assignment) WHERE x.edition = $1 "
        "AND x.agent < y.agent AND x.status = 'ok' AND y.status = 'ok' ORDER BY ALL",
        [edition],
    )

    def show(agents: tuple[str, str], assignment: str) -> Shown:
        texts = tuple(report_text(source, edition, agent, assignment) for agent in agents)
        return Shown(texts, ("Which report would you rather be given?",))

    return [
        Subject(
            assignment=assignment,
            agent="",
            decisions=(Decision("report", f"{one} {other}", ""),),
            texts_sha=content_sha(*shas),
            show=partial(show, (one, other), assignment),
            sides=(one, other),
        )
        for assignment, one, other, *shas in found.iter_rows()
    ]


def claim_subjects(source: Readable, edition: str) -> list[Subject]:
    """Each reference fact against a report's claims, and each claim against the facts."""
    facts = source.frame(
        "SELECT r.agent, r.assignment, 'fact:' || f.number, f.text, r.text_sha FROM facts AS f "
        "JOIN assignments AS a USING (edition, article) "
        "JOIN reports AS r USING (edition, assignment) "
        "JOIN extractions USING (edition, agent, assignment) "
        "WHERE f.edition = $1 AND r.status = 'ok' ORDER BY ALL",
        [edition],
    )
    claims = source.frame(
        "SELECT c.agent, c.assignment, 'claim:' || c.number, c.text, t.text_sha FROM claims AS c "
        "JOIN assignments AS a USING (edition, assignment) "
        "JOIN articles AS t USING (edition, article) WHERE c.edition = $1 "
        "AND article IN (SELECT article FROM facts WHERE edition = $1) ORDER BY ALL",
        [edition],
    )
    evidence = Evidence(source, edition)

    def show(step: str, agent: str, assignment: str, statement: str) -> Shown:
        found = evidence.of(step, agent, assignment, statement)
        lines = [f"- {plain(sentence)}" for sentence in found]
        return Shown((Text("Evidence", "\n".join(lines) or NO_EVIDENCE),), (plain(statement),))

    return [
        Subject(
            assignment=assignment,
            agent=agent,
            decisions=(Decision(step, item, statement),),
            texts_sha=sha,
            show=partial(show, step, agent, assignment, statement),
        )
        for step, rows in (("coverage", facts), ("conflict", claims))
        for agent, assignment, item, statement, sha in rows.iter_rows()
    ]


def citation_subjects(source: Readable, edition: str) -> list[Subject]:
    """Each claim with a page it cites that has been fetched."""
    found = source.frame(
        "SELECT z.agent, z.assignment, z.number, z.url, c.text, "
        "coalesce(p.text_sha, md5(p.text)) AS sha FROM citations AS z "
        "JOIN claims AS c USING (edition, agent, assignment, number) "
        "JOIN pages AS p USING (edition, url) "
        "WHERE z.edition = $1 AND p.status = 'ok' AND p.text IS NOT NULL ORDER BY ALL",
        [edition],
    )

    def show(url: str, statement: str) -> Shown:
        query = "SELECT text FROM pages WHERE edition = $1 AND url = $2"
        page = sentences(readable(_TAG.sub(" ", source.frame(query, [edition, url]).item())))
        matter = Bm25(page).top(statement, PASSAGES)
        return Shown((passage("The cited page", page, matter),), (plain(statement),))

    return [
        Subject(
            assignment=assignment,
            agent=agent,
            decisions=(Decision("citation", f"claim:{number} {url}", statement),),
            texts_sha=sha,
            show=partial(show, url, statement),
        )
        for agent, assignment, number, url, statement, sha in found.iter_rows()
    ]


KINDS: dict[str, Kind] = {
    "criteria": Kind(
        Form(
            kind="criteria",
            protocol="wiki_writing",
            title="Which text is better, criterion by criterion?",
            instructions="Each part shows two texts on one subject, in random order, without "
            "references and citation markers. Judge each criterion for itself, by the texts alone.",
            labels={
                FIRST: "the first text meets the criterion better",
                SECOND: "the second text meets it better",
                TIE: "neither is better",
            },
            texts_in_csv=False,
        ),
        criteria_subjects,
        (REFERENCE, REPORT, TIE),
    ),
    "claims": Kind(
        Form(
            kind="claims",
            protocol="wiki_fact",
            title="Does the evidence support the statement?",
            instructions="Each part shows a statement and sentences of another text. Go by these "
            "sentences alone, not by what you know.",
            labels={
                CONSISTENT: "at least one sentence supports the statement",
                INCONSISTENT: "at least one sentence contradicts it",
                NOT_SUPPORT: "no sentence supports or contradicts it",
            },
            texts_in_csv=True,
        ),
        claim_subjects,
        (CONSISTENT, INCONSISTENT, NOT_SUPPORT),
        steps=("coverage", "conflict"),
    ),
    "citations": Kind(
        Form(
            kind="citations",
            protocol="wiki_fact",
            title="Does the cited page support the statement?",
            instructions="Each part shows a statement and the page it cites. Go by the page alone, "
            "not by what you know.",
            labels={
                SUPPORT: "the page supports the statement",
                NOT_SUPPORT: "it does not say so, or says only part of it",
                CONFLICT: "it says something that cannot be true together with the statement",
            },
            texts_in_csv=True,
        ),
        citation_subjects,
        (SUPPORT, NOT_SUPPORT, CONFLICT),
        steps=("citation",),
    ),
    "reports": Kind(
        Form(
            kind="reports",
            protocol="preference",
            title="Which report is better?",
            instructions="Each part shows two reports on one assignment, in random order, without "
            "references and citation markers. Choose one, also where it is close.",
            labels={
                FIRST: "the first report is better",
                SECOND: "the second report is better",
            },
            texts_in_csv=False,
        ),
        report_subjects,
        (),
    ),
}  # fmt: skip


def verdict_labels(protocol: str, step: str) -> tuple[str, ...]:
    """What a verdict of this step can say; empty where no kind of sheet asks about it."""
    for kind in KINDS.values():
        if kind.form.protocol == protocol and (not kind.steps or step in kind.steps):
            return kind.verdict_labels
    return ()
