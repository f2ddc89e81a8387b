"""Import of published questions with their ground truths, and of agents' answers to them.

Importing the same files again changes nothing. No agent is called here.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tasks.benchmarks.answer_files import ImportedAnswer, read_answers
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.livedrbench import LAYOUT, PublishedQuestion, read_livedrbench
from tasks.configuration.agents import load_agents
from tasks.configuration.loading import CONFIGS
from tasks.configuration.templates import StrictTemplate
from tasks.editions.manifest import check_not_collected
from tasks.editions.names import UnknownName
from tasks.extraction.claim_layouts import build_truth_claims
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.rows import Agent, Assignment, Edition, Report, content_sha, utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import TRACE, SearchTrace
from tasks.warehouse.truths import GroundTruth, TruthSettings, make_ground_truth
from tasks.warehouse.writer import Change

PROMPT = "assignments/find_claims.md"
"""The prompt's file, relative to `configs/`."""
ANSWER_FORM = """{
  "claims": [
    {
      "value": "one answer",
      "sub_claims": [{"name": "what is asked of it, in the question's word", "value": "..."}],
      "sources": ["the address of a page that supports it"]
    }
  ]
}"""
"""The answer format shown to agents. Answers in the question's own format are accepted too."""


class QuestionsSummary(BaseModel):
    """The result of importing questions."""

    model_config = ConfigDict(frozen=True)

    edition: str
    questions: int
    categories: dict[str, int]
    claims: int


class AnswersSummary(BaseModel):
    """The result of importing answers."""

    model_config = ConfigDict(frozen=True)

    edition: str
    agent: str
    answers: int
    new: int
    unanswered: int
    """The number of the edition's questions without an answer, which are not scored."""
    unknown: tuple[str, ...]
    """Keys that are not questions of the edition; they are left out."""


def import_questions(
    warehouse: Warehouse, path: Path, edition: str, configs: Path = CONFIGS
) -> QuestionsSummary:
    """Import a published file of questions as an edition.

    Raises:
        EditionError: the file cannot be read, or the edition has another source.
        ConfigurationError: the prompt for agents cannot be rendered.
    """
    check_not_collected(warehouse, edition)
    questions = read_livedrbench(path)
    frame = _load_or_make_edition(warehouse, edition)
    truths = [
        make_ground_truth(
            edition,
            q.key,
            q.category,
            "published",
            build_truth_claims(q.category, settings),
            settings,
        )
        for q in questions
        for settings in [_make_settings(q)]
    ]
    _refuse_changed(warehouse, truths)
    warehouse.write(
        Change(Edition, [frame], only_new=True),
        Change(Assignment, [_make_assignment(frame, q, configs) for q in questions], only_new=True),
        Change(GroundTruth, truths),
    )
    export_edition(warehouse, edition)
    categories = sorted(q.category for q in questions)
    return QuestionsSummary(
        edition=edition,
        questions=len(questions),
        categories={name: categories.count(name) for name in dict.fromkeys(categories)},
        claims=sum(truth.n_claims for truth in truths),
    )


def import_answers(warehouse: Warehouse, path: Path, edition: str, agent: str) -> AnswersSummary:
    """Import one agent's answers to an edition's questions.

    Raises:
        EditionError: the files cannot be read, or answer none of the questions.
        UnknownName: no such edition, or it has no questions.
    """
    asked = set(
        warehouse.frame(
            "SELECT assignment FROM assignments WHERE edition = $1 AND kind = 'find_claims'",
            [edition],
        )["assignment"]
    )
    if not asked:
        raise UnknownName(
            f"{warehouse.location} has no questions of edition {edition!r}. Make some with "
            f"`evergreen assign --edition {edition} --protocol claim_discovery --judge JUDGE`, or "
            "import some with `evergreen import livedrbench PATH`."
        )
    given = read_answers(path)
    known = [answer for answer in given if answer.key in asked]
    unknown = tuple(answer.key for answer in given if answer.key not in asked)
    if not known:
        raise EditionError(
            f"{path} answers no question of {edition}; its first key is {given[0].key!r}. Expected "
            f"keys like {min(asked)!r}."
        )
    before = set(
        warehouse.frame(
            "SELECT assignment, text_sha FROM reports WHERE edition = $1 AND agent = $2",
            [edition, agent],
        ).iter_rows()
    )
    reports = [_make_report(edition, agent, answer) for answer in known]
    shown = load_agents().agents.get(agent)
    warehouse.write(
        Change(Agent, [Agent(edition=edition, agent=agent, name=shown.name if shown else agent)]),
        Change(Report, reports),
        Change(SearchTrace, [_make_trace(edition, agent, a) for a in known if a.trace is not None]),
        Change(
            ImportIssue,
            [_unknown_key_issue(edition, agent, path.name, key) for key in unknown],
            replacing={"edition": edition, "scope": agent},
        ),
    )
    export_edition(warehouse, edition)
    return AnswersSummary(
        edition=edition,
        agent=agent,
        answers=len(known),
        new=sum((report.assignment, report.text_sha) not in before for report in reports),
        unanswered=len(asked - {answer.key for answer in known}),
        unknown=unknown,
    )


def _load_or_make_edition(warehouse: Warehouse, edition: str) -> Edition:
    """Load the edition, or make a new one; its prompts name the day of its first import."""
    stored = warehouse.rows(Edition, "edition = $1", [edition])
    if not stored:
        title = f"LiveDRBench ({edition})"
        return Edition(edition=edition, source=LAYOUT, title=title, imported_at=utc_now())
    if stored[0].source != LAYOUT:
        raise EditionError(
            f"The edition {edition!r} already exists and comes from {stored[0].source}. Give this "
            "one another name with --edition."
        )
    return stored[0]


def _refuse_changed(warehouse: Warehouse, truths: Sequence[GroundTruth]) -> None:
    """Raise EditionError if a known key has another question or ground truth now."""
    known = dict(
        warehouse.frame(
            "SELECT assignment, truth_sha FROM ground_truths WHERE edition = $1",
            [truths[0].edition] if truths else [""],
        ).iter_rows()
    )
    changed = [t.assignment for t in truths if known.get(t.assignment, t.truth_sha) != t.truth_sha]
    if changed:
        raise EditionError(
            f"{truths[0].edition} has other questions under the keys {', '.join(changed[:5])}, and "
            "an edition never changes. Import under another name, with --edition."
        )


def _make_assignment(frame: Edition, question: PublishedQuestion, configs: Path) -> Assignment:
    prompt = StrictTemplate(configs / PROMPT).render(
        question=question.question,
        today=f"{frame.imported_at:%-d %B %Y}",
        banned=[],
        answer_form=ANSWER_FORM,
    )
    return Assignment(
        edition=frame.edition,
        assignment=question.key,
        article="",
        kind="find_claims",
        prompt=prompt,
        prompt_sha=content_sha(prompt),
    )


def _make_settings(question: PublishedQuestion) -> TruthSettings:
    return TruthSettings(
        question=question.question,
        published=question.ground_truths,
        eval_info=question.eval_info,
    )


def _make_report(edition: str, agent: str, answer: ImportedAnswer) -> Report:
    return Report(
        edition=edition,
        agent=agent,
        assignment=answer.key,
        text=answer.text,
        text_sha=content_sha(answer.text),
        status="ok" if answer.text.strip() else "empty",
        source_path=answer.source,
    )


def _make_trace(edition: str, agent: str, answer: ImportedAnswer) -> SearchTrace:
    stored = TRACE.dump_json(answer.trace or ()).decode()
    return SearchTrace(
        edition=edition,
        agent=agent,
        assignment=answer.key,
        trace=stored,
        trace_sha=content_sha(stored),
        source="imported",
    )


def _unknown_key_issue(edition: str, agent: str, file: str, key: str) -> ImportIssue:
    return ImportIssue(
        edition=edition,
        scope=agent,
        path=f"{file}: {key}"[:500],
        kind="unknown_question",
        severity="remark",
        message="the edition has no question with this key; the answer was left out",
    )
