"""Import of agents' answers to the questions of an edition.

Importing the same files again changes nothing. No agent is called here.
"""

from pathlib import Path

from tasks.agents.registry import find_agent_name
from tasks.base import Frozen
from tasks.benchmarks.answer_files import ImportedAnswer, read_answers
from tasks.benchmarks.errors import EditionError
from tasks.editions.names import UnknownName
from tasks.foreign_text import refuse_hidden
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.replaced_reports import remove_judgement
from tasks.warehouse.rows import Agent, Report, content_sha
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import SearchTrace, make_search_trace
from tasks.warehouse.writer import Change

DATA_SUFFIXES = {".json", ".jsonl", ".parquet"}


class AnswersSummary(Frozen):
    """The result of importing answers."""

    answers: int
    new: int
    unanswered: int
    """The number of the edition's questions without an answer, which are not scored."""
    unknown: tuple[str, ...]
    """Keys that are not questions of the edition; they are left out."""


def import_answers(warehouse: Warehouse, path: Path, edition: str, agent: str) -> AnswersSummary:
    """Import one agent's answers to an edition's questions.

    Raises:
        EditionError: the files cannot be read, or answer none of the questions.
        UnknownName: no such edition, or it has no questions.
        HiddenCharacters: the agent's name has them.
    """
    refuse_hidden(agent, "The agent")
    asked = find_questions(warehouse, edition)
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
    before = dict(
        warehouse.frame(
            "SELECT assignment, text_sha FROM reports WHERE edition = $1 AND agent = $2",
            [edition, agent],
        ).iter_rows()
    )
    reports = [_make_report(edition, agent, answer) for answer in known]
    changed = [each for each in reports if before.get(each.assignment) != each.text_sha]
    replaced = [each for each in changed if each.assignment in before]
    warehouse.write(
        Change(Agent, [Agent(edition=edition, agent=agent, name=find_agent_name(agent))]),
        Change(Report, reports),
        *(change for each in replaced for change in remove_judgement(each)),
        Change(
            SearchTrace,
            [
                make_search_trace(edition, agent, answer.key, answer.trace, "imported")
                for answer in known
                if answer.trace is not None
            ],
        ),
        Change(
            ImportIssue,
            [_unknown_key_issue(edition, agent, path.name, key) for key in unknown],
            replacing={"edition": edition, "scope": agent},
        ),
    )
    export_edition(warehouse, edition)
    return AnswersSummary(
        answers=len(known),
        new=len(changed),
        unanswered=len(asked - {answer.key for answer in known}),
        unknown=unknown,
    )


def hold_answers(warehouse: Warehouse, path: Path, edition: str) -> bool:
    """Whether the files are answers in JSON, or in a Parquet file, to the edition's questions: no
    report is."""
    files = path.iterdir() if path.is_dir() else [path]
    is_data = any(file.suffix in DATA_SUFFIXES for file in files)
    return is_data and bool(find_questions(warehouse, edition))


def find_questions(warehouse: Warehouse, edition: str) -> set[str]:
    """Return the ids of an edition's questions."""
    kind = "edition = $1 AND kind = 'find_claims'"
    return set(
        warehouse.frame(f"SELECT assignment FROM assignments WHERE {kind}", [edition])["assignment"]
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


def _unknown_key_issue(edition: str, agent: str, file: str, key: str) -> ImportIssue:
    return ImportIssue(
        edition=edition,
        scope=agent,
        path=f"{file}: {key}"[:500],
        kind="unknown_question",
        severity="remark",
        message="the edition has no question with this key; the answer was left out",
    )
