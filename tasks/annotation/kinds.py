"""The kinds of sheets: their instructions, and the subjects that an edition offers.

A new kind is one of FORMS, and a function that finds its subjects. People see the same
evidence as the judges, without any verdict.
"""

import re
from collections.abc import Callable
from functools import partial

from tasks.annotation.sheet import (
    FIRST,
    SECOND,
    TIE,
    SheetDecision,
    SheetForm,
    SheetSubject,
    SheetText,
    SubjectTexts,
)
from tasks.annotation.texts import (
    EvidenceIndex,
    cut_passage,
    load_article_text,
    load_report_text,
    strip_markers,
)
from tasks.configuration.criteria import load_criteria
from tasks.configuration.models import load_protocol
from tasks.judges.decisions import (
    CONFLICT,
    CONSISTENT,
    INCONSISTENT,
    NOT_SUPPORT,
    REFERENCE,
    REPORT,
    SUPPORT,
)
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import split_sentences, strip_markdown
from tasks.protocols.declarations import parse_parameters
from tasks.protocols.wiki_writing import WikiWritingParameters
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

_TAG = re.compile(r"<[/!a-zA-Z][^<>]{0,500}>")
"""HTML tags, which some archived pages contain."""
PASSAGES = 5
"""Relevant sentences of a cited page to show with their neighbours."""
NO_EVIDENCE = "(The other text has no sentence.)"


def find_criteria_subjects(source: Readable, edition: str) -> list[SheetSubject]:
    """Find each report with its reference article, to judge by every writing criterion."""
    parameters = parse_parameters(load_protocol("wiki_writing"), WikiWritingParameters)
    decisions = tuple(
        SheetDecision(category.id, criterion.id, criterion.text)
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
        SheetSubject(
            assignment=assignment,
            agent=agent,
            decisions=decisions,
            texts_sha=content_sha(*shas),
            load_texts=lambda agent=agent, assignment=assignment: SubjectTexts(  # type: ignore[misc]
                (
                    load_article_text(source, edition, assignment),
                    load_report_text(source, edition, agent, assignment),
                ),
                tuple(decision.content for decision in decisions),
            ),
            sides=(REFERENCE, REPORT),
        )
        for agent, assignment, *shas in found.iter_rows()
    ]


def find_report_subjects(source: Readable, edition: str) -> list[SheetSubject]:
    """Find each two agents' reports on the same assignment."""
    found = source.frame(
        "SELECT x.assignment, x.agent, y.agent, x.text_sha, y.text_sha FROM reports AS x "
        "JOIN reports AS y USING (edition, assignment) WHERE x.edition = $1 "
        "AND x.agent < y.agent AND x.status = 'ok' AND y.status = 'ok' ORDER BY ALL",
        [edition],
    )

    def load_texts(agents: tuple[str, str], assignment: str) -> SubjectTexts:
        texts = tuple(load_report_text(source, edition, agent, assignment) for agent in agents)
        return SubjectTexts(texts, ("Which report would you rather be given?",))

    return [
        SheetSubject(
            assignment=assignment,
            agent="",
            decisions=(SheetDecision("report", f"{one} {other}", ""),),
            texts_sha=content_sha(*shas),
            load_texts=partial(load_texts, (one, other), assignment),
            sides=(one, other),
        )
        for assignment, one, other, *shas in found.iter_rows()
    ]


def find_claim_subjects(source: Readable, edition: str) -> list[SheetSubject]:
    """Find each reference fact with a report's claims, and each claim with the facts."""
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
    evidence = EvidenceIndex(source, edition)

    def load_texts(step: str, agent: str, assignment: str, statement: str) -> SubjectTexts:
        found = evidence.find(step, agent, assignment, statement)
        lines = [f"- {strip_markers(sentence)}" for sentence in found]
        shown = SheetText("Evidence", "\n".join(lines) or NO_EVIDENCE)
        return SubjectTexts((shown,), (strip_markers(statement),))

    return [
        SheetSubject(
            assignment=assignment,
            agent=agent,
            decisions=(SheetDecision(step, item, statement),),
            texts_sha=sha,
            load_texts=partial(load_texts, step, agent, assignment, statement),
        )
        for step, rows in (("coverage", facts), ("conflict", claims))
        for agent, assignment, item, statement, sha in rows.iter_rows()
    ]


def find_citation_subjects(source: Readable, edition: str) -> list[SheetSubject]:
    """Find each claim with each of its cited pages that was fetched."""
    found = source.frame(
        "SELECT z.agent, z.assignment, z.number, z.url, c.text, "
        "coalesce(p.text_sha, md5(p.text)) AS sha FROM citations AS z "
        "JOIN claims AS c USING (edition, agent, assignment, number) "
        "JOIN pages AS p USING (edition, url) "
        "WHERE z.edition = $1 AND p.status = 'ok' AND p.text IS NOT NULL ORDER BY ALL",
        [edition],
    )

    def load_texts(url: str, statement: str) -> SubjectTexts:
        query = "SELECT text FROM pages WHERE edition = $1 AND url = $2"
        text = source.frame(query, [edition, url]).item()
        page = split_sentences(strip_markdown(_TAG.sub(" ", text)))
        relevant = Bm25(page).top(statement, PASSAGES)
        passage = cut_passage("The cited page", page, relevant)
        return SubjectTexts((passage,), (strip_markers(statement),))

    return [
        SheetSubject(
            assignment=assignment,
            agent=agent,
            decisions=(SheetDecision("citation", f"claim:{number} {url}", statement),),
            texts_sha=sha,
            load_texts=partial(load_texts, url, statement),
        )
        for agent, assignment, number, url, statement, sha in found.iter_rows()
    ]


FORMS = (
    SheetForm(
        kind="criteria",
        protocol="wiki_writing",
        title="Which text is better, criterion by criterion?",
        instructions="Each part shows two texts on one subject, in random order, without "
        "references and citation markers. Judge each criterion separately, by the texts alone.",
        labels={
            FIRST: "the first text meets the criterion better",
            SECOND: "the second text meets it better",
            TIE: "neither is better",
        },
        texts_in_csv=False,
        verdict_labels=(REFERENCE, REPORT, TIE),
    ),
    SheetForm(
        kind="claims",
        protocol="wiki_fact",
        title="Does the evidence support the statement?",
        instructions="Each part shows a statement and sentences of another text. Judge by "
        "these sentences alone, not by what you know.",
        labels={
            CONSISTENT: "at least one sentence supports the statement",
            INCONSISTENT: "at least one sentence contradicts it",
            NOT_SUPPORT: "no sentence supports or contradicts it",
        },
        texts_in_csv=True,
        verdict_labels=(CONSISTENT, INCONSISTENT, NOT_SUPPORT),
        steps=("coverage", "conflict"),
    ),
    SheetForm(
        kind="citations",
        protocol="wiki_fact",
        title="Does the cited page support the statement?",
        instructions="Each part shows a statement and the page it cites. Judge by the page "
        "alone, not by what you know.",
        labels={
            SUPPORT: "the page supports the statement",
            NOT_SUPPORT: "the page does not say so, or says only part of it",
            CONFLICT: "the page contradicts the statement",
        },
        texts_in_csv=True,
        verdict_labels=(SUPPORT, NOT_SUPPORT, CONFLICT),
        steps=("citation",),
    ),
    SheetForm(
        kind="reports",
        protocol="preference",
        title="Which report is better?",
        instructions="Each part shows two reports on one assignment, in random order, without "
        "references and citation markers. Choose one, even if it is close.",
        labels={FIRST: "the first report is better", SECOND: "the second report is better"},
        texts_in_csv=False,
    ),
)
KINDS = {form.kind: form for form in FORMS}
FINDERS: dict[str, Callable[[Readable, str], list[SheetSubject]]] = {
    "criteria": find_criteria_subjects,
    "claims": find_claim_subjects,
    "citations": find_citation_subjects,
    "reports": find_report_subjects,
}
"""What finds all subjects of an edition, without loading long texts."""


def find_verdict_labels(protocol: str, step: str) -> tuple[str, ...]:
    """Return the possible labels of a step's verdicts; empty if no kind of sheet covers it."""
    for form in FORMS:
        if form.protocol == protocol and (not form.steps or step in form.steps):
            return form.verdict_labels
    return ()
