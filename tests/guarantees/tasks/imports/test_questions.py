"""Questions and answers come in, and coming in again changes nothing."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.editions.names import UnknownName
from tasks.imports.answers import import_answers
from tasks.imports.wlc import import_edition
from tasks.warehouse.rows import Assignment, Edition, Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import TRACE, SearchTrace
from tasks.warehouse.truths import TRUTHS, GroundTruth
from tasks.warehouse.writer import Change
from tests.flows.llm_runs import SAMPLE
from tests.tasks.benchmarks.questions_builder import (
    QUESTIONS,
    erring,
    import_questions,
    perfect,
    write_answers,
    write_questions,
)


@pytest.fixture
def live(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """With all of the questions."""
    import_questions(warehouse, write_questions(tmp_path / "live.json"), "live")
    return warehouse


def contents(warehouse: Warehouse) -> list[object]:
    return [
        warehouse.rows(model, "true")
        for model in (Edition, Assignment, GroundTruth, Report, SearchTrace)
    ]


def test_every_question_becomes_an_assignment_with_its_truth(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    summary = import_questions(warehouse, write_questions(tmp_path / "live.json"), "live")
    assert (summary.queries, summary.new) == (len(QUESTIONS), len(QUESTIONS))
    assignments = warehouse.rows(Assignment, "edition = 'live'")
    assert {a.assignment for a in assignments} == {key for key, *_ in QUESTIONS}
    assert {(a.kind, a.article) for a in assignments} == {("find_claims", "")}
    for assignment in assignments:
        prompt = str(assignment.prompt)
        assert f"What is asked in {assignment.assignment}?" in prompt
        assert '"claims"' in prompt
        assert f"Today is {datetime.now(UTC):%-d %B %Y}." in prompt
        assert not any(word in prompt.lower() for word in ("lakeset", "zinc", "lovelace"))
    truths = warehouse.rows(GroundTruth, "edition = 'live'")
    counted = {t.assignment: (len(TRUTHS.validate_json(t.truths)), t.n_claims) for t in truths}
    assert counted["extract"] == (3, 6)
    assert counted["entities"] == (3, 3)
    assert sum(n for _, n in counted.values()) == summary.claims


def test_the_same_files_again_change_nothing(warehouse: Warehouse, tmp_path: Path) -> None:
    questions = write_questions(tmp_path / "live.json")
    answers = write_answers(tmp_path / "answers.json", erring())
    import_questions(warehouse, questions, "live")
    # Imported again on another day, the prompts stay as agents have been given them.
    asked = warehouse.rows(Assignment, "true")
    old = warehouse.rows(Edition, "true")[0].model_copy(
        update={"imported_at": datetime(2026, 3, 1, tzinfo=UTC)}
    )
    warehouse.write(Change(Edition, [old]))
    import_questions(warehouse, questions, "live")
    first = import_answers(warehouse, answers, "live", "a")
    before = contents(warehouse)
    import_questions(warehouse, questions, "live")
    second = import_answers(warehouse, answers, "live", "a")
    assert contents(warehouse) == before
    assert (first.new, second.new) == (9, 0)
    assert warehouse.rows(Assignment, "true") == asked


def test_another_question_under_a_known_key_is_refused(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    file = write_questions(tmp_path / "live.json")
    import_questions(warehouse, file, "live")
    before = contents(warehouse)
    questions = json.loads(file.read_text("utf-8"))
    questions[0]["question"] += " And when?"
    file.write_text(json.dumps(questions), "utf-8")
    with pytest.raises(
        EditionError, match=f"truth under the key '{questions[0]['key']}', and an edition"
    ):
        import_questions(warehouse, file, "live")
    assert contents(warehouse) == before


def test_answers_come_from_predictions_or_from_a_folder_of_files(
    live: Warehouse, tmp_path: Path
) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "geo.md").write_text('```json\n["Flood B"]\n```', "utf-8")
    (folder / "peer.txt").write_text("", "utf-8")
    (folder / "notes.pdf").write_bytes(b"\xff")
    found = import_answers(live, folder, "live", "a")
    assert (found.answers, found.unanswered, found.unknown) == (2, 7, ())
    reports = {r.assignment: r for r in live.rows(Report, "agent = 'a'")}
    assert (reports["geo"].status, reports["peer"].status) == ("ok", "empty")
    assert reports["geo"].source_path == "geo.md"


def test_a_prediction_may_carry_the_search_behind_it(live: Warehouse, tmp_path: Path) -> None:
    steps = [{"query": "a"}, {"query": "b", "parent": 0, "seconds": 3}]
    given = [{"key": "geo", "preds": [[]], "trace": steps}]
    import_answers(live, write_answers(tmp_path / "a.json", given), "live", "a")
    [trace] = live.rows(SearchTrace, "true")
    assert [(s.query, s.parent) for s in TRACE.validate_json(trace.trace)] == [
        ("a", None),
        ("b", 0),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[", "cannot be read as JSON.* Fix it: expected a list of predictions"),
        ("{}", "expected a list of rows with the columns key, preds"),
        ("[]", "has no answers"),
        ('[{"key": "geo", "preds": []}, 1]', "row 2 is no object; expected a list of rows"),
        ('[{"key": "geo"}]', r"'geo': it has neither `preds` nor a text `answer`\.$"),
        ('[{"key": "geo", "preds": []}, {"key": "geo", "preds": []}]', "'geo' is there twice"),
        ('[{"key": "other", "preds": []}]', "answers no question of live"),
        ('[{"key": "geo", "preds": [], "trace": 3}]', "'geo': `trace`: expected a list.* Fix it"),
        ('[{"key": "geo", "preds": [], "trace": [{"parent": 0}]}]', "which is not before it"),
    ],
)
def test_answers_in_another_form_are_refused(
    content: str, says: str, live: Warehouse, tmp_path: Path
) -> None:
    path = tmp_path / "answers.json"
    path.write_text(content, "utf-8")
    with pytest.raises(EditionError, match=says):
        import_answers(live, path, "live", "a")


def test_two_files_for_one_question_are_named_and_so_is_a_missing_path(
    live: Warehouse, tmp_path: Path
) -> None:
    folder = tmp_path / "answers"
    with pytest.raises(EditionError, match="no such file or folder of answers"):
        import_answers(live, folder, "live", "a")
    folder.mkdir()
    for name in ("geo.md", "geo.txt"):
        (folder / name).write_text("[]", "utf-8")
    with pytest.raises(EditionError, match=r"geo\.md and geo\.txt both answer 'geo'"):
        import_answers(live, folder, "live", "a")


def test_an_unknown_key_is_left_out_with_a_remark(live: Warehouse, tmp_path: Path) -> None:
    given = [*perfect(), {"key": "ghost", "preds": [], "answer": {"of": "another form"}}]
    found = import_answers(live, write_answers(tmp_path / "a.json", given), "live", "a")
    assert (found.answers, found.unknown) == (9, ("ghost",))
    assert live.value("SELECT count(*) FROM import_issues WHERE kind = 'unknown_question'") == 1


def test_answers_to_an_edition_without_questions_are_refused(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    path = write_answers(tmp_path / "a.json", perfect())
    with pytest.raises(UnknownName, match="import livedrbench"):
        import_answers(warehouse, path, "nowhere", "a")


def test_questions_do_not_mix_with_another_edition(warehouse: Warehouse, tmp_path: Path) -> None:
    import_edition(warehouse, SAMPLE, "sample", ["sample_sketch"])
    with pytest.raises(EditionError, match="comes from"):
        import_questions(warehouse, write_questions(tmp_path / "live.json"), "sample")


def test_the_truth_is_in_no_row_that_an_agent_sees(live: Warehouse) -> None:
    shown = json.dumps([a.model_dump() for a in live.rows(Assignment, "true")])
    for truth in live.rows(GroundTruth, "true"):
        for claim in TRUTHS.validate_json(truth.truths):
            assert claim.value not in shown
