"""Scanned reports in the warehouse: judged by judges that see, final for all others."""

import pytest

from tasks.claims import find_pending_extractions
from tasks.configuration.criteria import load_words_to_watch
from tasks.diagnostics import TEXTS
from tasks.extraction.shape import measure_styles
from tasks.judges.decisions import Judge
from tasks.judges.registry import load_judge
from tasks.judging.cases import CaseLoader, UnreadableScan, load_cases
from tasks.judging.cells import CellPlan, plan_cells
from tasks.models.attachments import MAX_ATTACHMENT_BYTES
from tasks.planning.stages import count_stages
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.scores import compute_scores
from tasks.scoring.rows import build_leaderboard_rows
from tasks.warehouse.contents import FileStore, files_folder
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.results import Score
from tasks.warehouse.rows import Assignment, Report, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.truths import GroundTruth
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.annotated import ARTICLE, OTHER, warehouse
from tests.tasks.models.test_attachments import PAGES, PICTURE

__all__ = ["warehouse"]

SEES, BLIND = "gemini-3.8-flash", "local"
PDF = ("report.pdf", "application/pdf", PAGES)
SCAN = "not_assessed: the report is a scan; "


def scan(warehouse: Warehouse, *files: tuple[str, str, bytes], assignment: str = ARTICLE,
         n_pages: int | None = 3) -> None:  # fmt: skip
    """Make a report of `OTHER` one that came as these files and has no text."""
    key = {"edition": "sample", "agent": OTHER, "assignment": assignment}
    store = FileStore(files_folder(warehouse.location))
    rows = [
        ReportFile(
            **key, number=number, name=name, media_type=media_type, sha=store.put(content),
            n_bytes=len(content), n_pages=n_pages if name.endswith(".pdf") else None,
            reader="a test",
        )
        for number, (name, media_type, content) in enumerate(files)
    ]  # fmt: skip
    report = Report(**key, text="", text_sha=content_sha(""), status="scanned", source_path="x.pdf")
    warehouse.write(
        Change(Report, [report], replacing=dict(key)),
        Change(ReportFile, rows, replacing=dict(key)),
    )


def plans(warehouse: Warehouse, name: str, decider: Judge) -> dict[tuple[str, str], CellPlan]:
    found = plan_cells(warehouse, "sample", get_protocol(name), decider)
    return {(plan.agent, plan.assignment): plan for plan in found}


def of_scan(warehouse: Warehouse, name: str = "wiki_writing", by: str = SEES) -> CellPlan:
    return plans(warehouse, name, load_judge(by))[OTHER, ARTICLE]


def test_a_scan_changes_no_cell_but_its_own(warehouse: Warehouse) -> None:
    before = {
        name: plans(warehouse, name, load_judge(SEES)) for name in ("wiki_fact", "wiki_writing")
    }
    scan(warehouse, PDF)
    for name, earlier in before.items():
        now = plans(warehouse, name, load_judge(SEES))
        changed = {key for key in earlier if now[key] != earlier[key]}
        assert changed == {(OTHER, ARTICLE)}
        assert now[OTHER, ARTICLE].cell_id != earlier[OTHER, ARTICLE].cell_id or name == "wiki_fact"


@pytest.mark.parametrize(
    ("name", "by", "state", "reason"),
    [
        ("wiki_writing", SEES, "pending", None),
        ("wiki_writing", "gpt-5.5", "pending", None),
        ("wiki_writing", BLIND, "not_assessed", SCAN + "the judge local reads text only"),
        ("wiki_writing", "offline", "not_assessed", SCAN + "the judge offline reads text only"),
        ("wiki_fact", SEES, "not_assessed", SCAN + "wiki_fact judges texts only"),
        ("wiki_fact", "offline", "not_assessed", SCAN + "wiki_fact judges texts only"),
    ],
)
def test_a_scan_waits_for_a_judge_that_sees_and_is_final_for_others(
    name: str, by: str, state: str, reason: str | None, warehouse: Warehouse
) -> None:
    scan(warehouse, PDF)
    plan = of_scan(warehouse, name, by)
    assert (plan.state, plan.state_reason) == (state, reason)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([], "no PDF and no picture of it is kept"),
        ([("x.tiff", "image/tiff", b"II*\0")], "does not read image/tiff"),
        ([("x.docx", "application/msword", b"PK")], "no PDF and no picture of it is kept"),
        (
            [("x.pdf", "application/pdf", bytes(MAX_ATTACHMENT_BYTES + 50_000))],
            "it has 14.1 MB, and at most",
        ),
    ],
)
def test_what_no_judge_can_be_shown_is_final_with_the_reason(
    files: list[tuple[str, str, bytes]], says: str, warehouse: Warehouse
) -> None:
    scan(warehouse, *files)
    plan = of_scan(warehouse)
    assert plan.state == "not_assessed"
    assert str(plan.state_reason).startswith(SCAN)
    assert says in str(plan.state_reason)


def test_of_a_document_of_pictures_the_pictures_are_shown_and_of_a_pdf_the_pdf(
    warehouse: Warehouse,
) -> None:
    pages = [(f"page {n}", "image/png", PICTURE + bytes([n])) for n in (1, 2)]
    shown = {}
    for name, files in {
        "docx": [("x.docx", "application/zip", b"PK"), *pages],
        "pdf": [PDF, *pages],
        "png": [("x.png", "image/png", PICTURE)],
    }.items():
        scan(warehouse, *files)
        plan = of_scan(warehouse)
        case = load_cases(warehouse, [plan])[plan.cell_id]
        shown[name] = [attachment.content() for attachment in case.attachments]
    assert shown == {"docx": [p[2] for p in pages], "pdf": [PAGES], "png": [PICTURE]}


def test_the_cell_is_another_one_when_the_file_is(warehouse: Warehouse) -> None:
    ids = []
    for content in (PAGES, PAGES + b"!", PAGES):
        scan(warehouse, ("report.pdf", "application/pdf", content))
        ids.append(of_scan(warehouse).cell_id)
    assert ids[0] == ids[2] != ids[1]


def test_an_answer_to_a_question_that_came_as_a_scan_is_not_assessed(warehouse: Warehouse) -> None:
    truth = GroundTruth.model_validate(
        {"edition": "sample", "assignment": "q1", "category": "entities", "truths": "[]",
         "settings": "{}", "source": "published", "n_claims": 1, "truth_sha": "0"}
    )  # fmt: skip
    asked = Assignment(edition="sample", assignment="q1", article="", kind="find_claims")
    warehouse.write(Change(Assignment, [asked]), Change(GroundTruth, [truth]))
    scan(warehouse, PDF, assignment="q1")
    (plan,) = plan_cells(warehouse, "sample", get_protocol("claim_discovery"), load_judge(SEES))
    assert plan.state == "not_assessed"
    assert plan.state_reason == SCAN + "claim_discovery judges texts only"
    rows = compute_scores(warehouse, get_protocol("claim_discovery"), load_judge(SEES), [plan])
    assert {(row.value, row.n_items, row.reason) for row in rows} == {(None, 0, plan.state_reason)}


def test_a_file_that_is_missing_fails_its_own_cell_and_no_other(warehouse: Warehouse) -> None:
    scan(warehouse, PDF)
    sha = warehouse.value("SELECT sha FROM report_files")
    FileStore(files_folder(warehouse.location)).path(sha).unlink()
    found = plans(warehouse, "wiki_writing", load_judge(SEES))
    with pytest.raises(UnreadableScan, match=r"a report's file is missing.*Restore it"):
        CaseLoader(warehouse, [found[OTHER, ARTICLE]]).load(found[OTHER, ARTICLE])
    others = [plan for key, plan in found.items() if key != (OTHER, ARTICLE)]
    assert all(CaseLoader(warehouse, [plan]).load(plan).attachments == () for plan in others)


def test_nothing_waits_for_claims_of_a_scan_and_its_style_is_null(warehouse: Warehouse) -> None:
    before = {
        (item.agent, item.assignment) for item in find_pending_extractions(warehouse, "sample")
    }
    scan(warehouse, PDF)
    after = {
        (item.agent, item.assignment) for item in find_pending_extractions(warehouse, "sample")
    }
    assert after == before - {(OTHER, ARTICLE)}
    texts = warehouse.frame(
        f"SELECT text FROM ({TEXTS}) WHERE agent = $1 AND assignment = $2", [OTHER, ARTICLE]
    )["text"].to_list()
    (figures,) = measure_styles(texts, load_words_to_watch())
    assert {figure.value for figure in figures.values()} == {None}


def test_status_shows_what_cannot_be_done_as_final(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counts(by: Judge) -> dict[str, tuple[int, int, int]]:
        monkeypatch.setattr("tasks.verdicts.load_judge", lambda name: by)
        found = count_stages(warehouse, "sample", by.name)
        return {stage.stage: (stage.done, stage.pending, stage.final) for stage in found}

    before, seeing = counts(ScriptedJudge()), counts(load_judge(SEES))
    scan(warehouse, PDF)
    blind = counts(ScriptedJudge())
    assert blind["reports"] == before["reports"]
    done, pending, final = before["claims"]
    assert blind["claims"] in {(done - 1, pending, final + 1), (done, pending - 1, final + 1)}
    for name in ("verdicts wiki_writing", "verdicts wiki_fact"):
        assert sum(blind[name]) == sum(before[name])
        assert blind[name][2] == before[name][2] + 1
    assert counts(load_judge(SEES))["verdicts wiki_writing"] == seeing["verdicts wiki_writing"]


def scores(warehouse: Warehouse, name: str, by: str) -> list[Score]:
    found = list(plans(warehouse, name, load_judge(by)).values())
    agents = sorted({plan.agent for plan in found})
    return [
        score
        for agent in agents
        for score in compute_scores(
            warehouse, get_protocol(name), load_judge(by), [p for p in found if p.agent == agent]
        )
    ]


@pytest.mark.parametrize(("name", "by"), [("wiki_writing", BLIND), ("wiki_fact", "offline")])
def test_what_is_not_assessed_is_null_and_the_leaderboard_counts_the_others(
    name: str, by: str, warehouse: Warehouse
) -> None:
    scan(warehouse, PDF)
    rows = scores(warehouse, name, by)
    ours = [s for s in rows if (s.agent, s.assignment) == (OTHER, ARTICLE)]
    assert len(ours) == len(get_protocol(name).metrics)
    for score in ours:
        assert (score.value, score.numerator, score.n_items, score.n_open) == (None, None, 0, 0)
        assert str(score.reason).startswith(SCAN)
    decided = [
        score.model_copy(update={"value": 0.5, "numerator": 1.0, "n_items": 2, "state": "done"})
        if score not in ours
        else score
        for score in rows
    ]
    warehouse.write(Change(Score, decided))
    board = build_leaderboard_rows(warehouse, "sample", [get_protocol(name)])
    mine = {row.metric: row for row in board if row.agent == OTHER}
    n_reports = len({s.assignment for s in rows if s.agent == OTHER})
    for row in mine.values():
        assert (row.n_reports, row.value, row.provisional) == (n_reports - 1, 0.5, False)


def test_every_protocol_says_whether_scans_may_be_shown() -> None:
    allow = {name for name in PROTOCOLS if "files" in get_protocol(name).inputs}
    assert allow == {"rubric_bench", "wiki_writing"}
