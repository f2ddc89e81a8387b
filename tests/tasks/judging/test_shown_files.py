"""Files of reports with text: shown where the settings say so, to judges that read them, and part
of those cells' ids alone."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, TypeVar

import pytest
from docx.document import Document as OpenWord
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tasks.benchmarks.drb2 import PROTOCOL
from tasks.configuration.models import LlmJudgeEntry, load_protocol
from tasks.judges.decisions import Judge
from tasks.judges.llm.prompts import load_wording
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.judging.cases import load_cases
from tasks.judging.cells import CellPlan, plan_cells
from tasks.judging.inputs import MAX_SHOWN_PICTURES
from tasks.models.attachments import MAX_ATTACHMENT_BYTES
from tasks.planning.estimate import estimate_cells
from tasks.protocols.case import Case, ItemAnswer
from tasks.protocols.rubric_bench import CUT, FOUND, SHOWN, WHOLE, RubricBench
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.rows import Report, Row
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.test_servers import BOTH
from tests.tasks.documents.builders import both, lines, pdf, picture, word
from tests.tasks.judges.recording import Recorder, at_server, recorded
from tests.tasks.models.test_attachments import arrived
from tests.tasks.planning.test_estimate import HELPERS
from tests.tasks.rubric_edition import printed_edition

KINDS: dict[type[ModelServer], str] = {GeminiServer: "gemini", OpenAiServer: "openai_chat"}
SEES = "gemini-3.8-flash"
TEXT = "Snow fell in March."
PDFS, DOCX, PLAIN = "idx-1", "idx-2", "idx-3"


def chart(canvas: Canvas) -> None:
    canvas.drawImage(ImageReader(Image.new("RGB", (60, 40), "red")), 60, 300, 300, 200)


def illustrated(document: OpenWord) -> None:
    document.add_paragraph(TEXT)
    for form, colour in (("PNG", "red"), ("TIFF", "blue")):
        document.add_picture(BytesIO(picture(form, (60, 40), colour=colour)))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Three tasks with reports of the same text: a PDF with a picture, a DOCX with two, a text."""
    folder = tmp_path_factory.mktemp("shown")
    with open_warehouse(folder / "w.duckdb") as opened:
        files = {"pdf": pdf(both(lines(TEXT), chart)), "docx": word(illustrated)}
        printed_edition(opened, folder, **files, md=TEXT.encode())
        yield opened


RowT = TypeVar("RowT", bound=Row)


@contextmanager
def changed_rows(warehouse: Warehouse, rows: list[RowT], **columns: Any) -> Iterator[list[RowT]]:
    """Within the block these rows of one table have other values."""
    other = [row.model_copy(update=columns) for row in rows]
    warehouse.write(Change(type(rows[0]), other))
    try:
        yield other
    finally:
        warehouse.write(Change(type(rows[0]), rows))


def files_of(warehouse: Warehouse, name: str, where: str) -> list[ReportFile]:
    found = warehouse.rows(ReportFile, f"assignment = $1 AND {where}", [name])
    return sorted(found, key=lambda file: file.number)


def bench(**parameters: Any) -> RubricBench:
    entry = load_protocol(PROTOCOL)
    return RubricBench(entry.model_copy(update={"parameters": entry.parameters | parameters}))


def planned(
    warehouse: Warehouse, judge: Judge | None = None, **parameters: Any
) -> dict[str, CellPlan]:
    judge = judge or recorded(Recorder(), reads=("image", "pdf"))
    return {p.assignment: p for p in plan_cells(warehouse, "e", bench(**parameters), judge)}


def changed(warehouse: Warehouse, judge: Judge | None = None, **parameters: Any) -> set[str]:
    """The assignments whose cells these settings change."""
    before, after = planned(warehouse, judge), planned(warehouse, judge, **parameters)
    return {name for name in before if before[name].cell_id != after[name].cell_id}


def load(warehouse: Warehouse, plan: CellPlan) -> Case:
    return load_cases(warehouse, [plan])[plan.cell_id]


def judged(
    warehouse: Warehouse, name: str, server: ModelServer, **parameters: Any
) -> tuple[Case, list[ItemAnswer]]:
    reads = ("image", "pdf")
    judge = recorded(Recorder(), kind=KINDS[type(server)], reads=reads)
    case = load(warehouse, planned(warehouse, judge, **parameters)[name])
    work = bench(**parameters)
    return case, at_server(server, lambda judge: work.judge(case, judge), reads=reads)


def test_as_delivered_judges_are_shown_the_text_alone(warehouse: Warehouse) -> None:
    for plan in planned(warehouse).values():
        case = load(warehouse, plan)
        assert (case.attachments, case.pictures) == ((), ())
        assert case.report.text.startswith(TEXT)


def test_only_cells_that_are_shown_something_new_get_another_id(warehouse: Warehouse) -> None:
    assert changed(warehouse, pdfs=True) == {PDFS}
    assert changed(warehouse, pictures=True) == {PDFS, DOCX}
    assert changed(warehouse, pdfs=True, pictures=True) == {PDFS, DOCX}
    both_ways = planned(warehouse, pdfs=True), planned(warehouse, pictures=True)
    assert both_ways[0][PDFS].cell_id != both_ways[1][PDFS].cell_id


@pytest.mark.parametrize(("number", "settings"), [(0, {"pdfs": True}), (1, {"pictures": True})])
def test_another_file_is_judged_anew(
    number: int, settings: dict[str, Any], warehouse: Warehouse
) -> None:
    before = planned(warehouse, **settings)[PDFS].cell_id
    with changed_rows(warehouse, files_of(warehouse, PDFS, f"number = {number}"), sha="f" * 64):
        assert planned(warehouse, **settings)[PDFS].cell_id != before
        assert changed(warehouse) == set()


@pytest.mark.parametrize(
    ("settings", "wording"), [({"pdfs": True}, "report"), ({"pictures": True}, "pictures")]
)
def test_another_wording_has_files_judged_anew(
    settings: dict[str, Any], wording: str, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = planned(warehouse, **settings)
    known = load_wording(wording)
    monkeypatch.setattr(known, "sha", "f" * 64)
    after = planned(warehouse, **settings)
    assert before[PDFS].cell_id != after[PDFS].cell_id
    assert before[PLAIN].cell_id == after[PLAIN].cell_id


@pytest.mark.parametrize(
    ("reads", "new"), [((), set()), (("pdf",), {PDFS}), (("image",), {PDFS, DOCX})]
)
def test_a_judge_is_shown_what_it_reads_and_else_the_text(
    reads: tuple[str, ...], new: set[str], warehouse: Warehouse
) -> None:
    judge = recorded(Recorder(), reads=reads)
    assert changed(warehouse, judge, pdfs=True, pictures=True) == new
    plans = planned(warehouse, judge, pdfs=True, pictures=True)
    assert {plan.state for plan in plans.values()} == {"pending"}


@BOTH
def test_a_pdf_is_sent_in_place_of_its_text(kind: type[ModelServer], warehouse: Warehouse) -> None:
    server = kind()
    case, answers = judged(warehouse, PDFS, server, pdfs=True, pictures=True)
    [entry] = server.log.entries
    assert entry.files == arrived(*case.attachments)
    assert [file.media_type for file in entry.files] == ["application/pdf"]
    assert TEXT not in asked(case, pdfs=True)[0]
    assert {a.answer.label for a in answers if a.step == "evidence"} <= {FOUND, "not_found"}
    assert [a.answer.label for a in answers if a.step == SHOWN] == [WHOLE]


def asked(case: Case, **parameters: Any) -> list[str]:
    """The blocks of a report in what a judge is asked."""
    recorder = Recorder()
    judge = recorded(recorder, reads=("image", "pdf"))
    asyncio.run(bench(**parameters).judge(case, judge))
    texts = [request.messages[0].text for request in recorder.asked]
    return [text[text.index("<<<BEGIN report") :].split("<<<END report")[0] for text in texts]


def test_a_pdf_is_shown_whole_however_long_its_text(warehouse: Warehouse) -> None:
    cut = {}
    for shows in (False, True):
        settings: dict[str, Any] = {"pdfs": shows, "max_chars": 5}
        _, answers = judged(warehouse, PDFS, GeminiServer(), **settings)
        cut[shows] = [a.answer.label for a in answers if a.step == SHOWN]
    assert cut == {False: [CUT], True: [WHOLE]}


@BOTH
def test_pictures_go_along_with_the_text_in_calls_with_presentation_items(
    kind: type[ModelServer], warehouse: Warehouse
) -> None:
    server = kind()
    case, _ = judged(warehouse, DOCX, server, pictures=True, chunk_size=3)
    shown = arrived(*case.pictures)
    assert [file.media_type for file in shown] == ["image/png", "image/png"]
    assert [entry.files for entry in server.log.entries] == [(), shown]
    assert all(TEXT in block for block in asked(case, pictures=True, chunk_size=3))


def test_the_batches_stay_and_the_prompt_names_the_pictures(warehouse: Warehouse) -> None:
    case = load(warehouse, planned(warehouse, pictures=True)[DOCX])
    recorder = Recorder()
    asyncio.run(bench(pictures=True).judge(case, recorded(recorder, reads=("image",))))
    [request] = recorder.asked
    assert request.purpose.n_items == 4
    for n, each in enumerate(case.pictures, start=1):
        name = f"attachment_{n} {each.sha[:16]} (image/png, image-{n}.png in the text)"
        assert name in request.system
        assert f"image-{n}.png" in case.report.text


def test_a_fallback_that_reads_no_pictures_is_asked_about_the_text_alone(
    warehouse: Warehouse,
) -> None:
    case = load(warehouse, planned(warehouse, pictures=True)[DOCX])
    recorder = Recorder()
    asyncio.run(bench(pictures=True).judge(case, recorded(recorder, reads=())))
    assert case.pictures
    assert [request.attachments for request in recorder.asked] == [()]
    assert TEXT in recorder.asked[0].messages[0].text


@pytest.mark.parametrize(
    ("parameters", "name"), [({"pictures": True}, DOCX), ({"pdfs": True}, PDFS)]
)
def test_shown_files_are_counted_in_estimates(
    parameters: dict[str, Any], name: str, warehouse: Warehouse
) -> None:
    judge, (_, entry) = load_judge(SEES), load_judge_entry(SEES)
    assert isinstance(entry, LlmJudgeEntry)

    def tokens(**parameters: Any) -> float:
        plan = planned(warehouse, judge, **parameters)[name]
        [found] = estimate_cells(warehouse, HELPERS, entry, [plan], lambda n: None).to_dicts()
        assert found["calls"] == 1
        assert found["usd"] > 0
        return float(found["tokens_in"])

    n_files = {DOCX: 2, PDFS: 1}[name]
    assert tokens(**parameters) > tokens() + n_files * 1_400


def test_what_is_too_large_stays_a_text_and_pictures_have_a_limit(warehouse: Warehouse) -> None:
    kept = files_of(warehouse, DOCX, "number < 3")
    [first] = files_of(warehouse, DOCX, "number = 1")
    many = [first.model_copy(update={"number": n}) for n in range(3, 90)]
    with changed_rows(warehouse, files_of(warehouse, PDFS, "number = 0"), n_bytes=15_000_000):
        warehouse.write(Change(ReportFile, many))
        assert changed(warehouse, pdfs=True) == set()
        shown = planned(warehouse, pictures=True)[DOCX].shown.beside
        assert len(shown) == MAX_SHOWN_PICTURES
        assert [each.number for each in shown] == [*range(1, MAX_SHOWN_PICTURES + 1)]
        key = {"edition": "e", "agent": first.agent, "assignment": DOCX}
        warehouse.write(Change(ReportFile, kept, replacing=key))


def test_pictures_stay_below_the_bytes_of_a_request(warehouse: Warehouse) -> None:
    pictures = files_of(warehouse, DOCX, "number > 0")
    with changed_rows(warehouse, pictures, n_bytes=MAX_ATTACHMENT_BYTES - 1) as large:
        assert planned(warehouse, pictures=True)[DOCX].shown.beside == (large[0],)


def test_files_of_an_earlier_report_are_not_shown(warehouse: Warehouse) -> None:
    reports = warehouse.rows(Report, "assignment = $1", [PDFS])
    with changed_rows(warehouse, reports, source_path="job 1"):
        assert changed(warehouse, pdfs=True, pictures=True) == {DOCX}
