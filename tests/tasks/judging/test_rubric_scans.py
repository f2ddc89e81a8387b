"""Reports to research queries that came as files: what judges that see are shown of them."""

from collections.abc import Iterator

import pytest

from tasks.benchmarks.drb2 import PROTOCOL
from tasks.judges.decisions import Judge
from tasks.judges.llm.prompts import load_wording
from tasks.judging.cases import load_cases
from tasks.judging.cells import CellPlan, plan_cells
from tasks.protocols.registry import get_protocol
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.test_servers import BOTH
from tests.tasks.documents.builders import pdf, scan, tiff
from tests.tasks.judges.recording import Recorder, at_server, recorded
from tests.tasks.models.test_attachments import arrived
from tests.tasks.protocols.framed import framed
from tests.tasks.rubric_edition import printed_edition

BENCH = get_protocol(PROTOCOL)
KINDS: dict[type[ModelServer], str] = {GeminiServer: "gemini", OpenAiServer: "openai_chat"}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Task 1 is answered by a picture in a PDF, task 2 by a text, task 3 by a TIFF of two pages."""
    folder = tmp_path_factory.mktemp("drb2")
    with open_warehouse(folder / "w.duckdb") as opened:
        files = {"pdf": pdf(scan), "md": b"Snow fell in March.", "tif": tiff((30, 20), (15, 40))}
        printed_edition(opened, folder, **files)
        yield opened


def planned(warehouse: Warehouse, judge: Judge) -> dict[str, CellPlan]:
    return {plan.assignment: plan for plan in plan_cells(warehouse, "e", BENCH, judge)}


def test_a_scan_s_cell_rests_on_the_wording_for_reports_and_no_other_cell_does(
    warehouse: Warehouse,
) -> None:
    sees = recorded(Recorder(), reads=("pdf",))
    plans = planned(warehouse, sees)
    prompts = sees.prompt_sha(PROTOCOL)
    assert plans["idx-1"].prompt_sha == content_sha(prompts, load_wording("report").sha)
    assert plans["idx-2"].prompt_sha == prompts
    assert load_wording("report").sha != load_wording("article").sha


def test_who_sees_grades_it_by_its_file_and_who_reads_text_only_does_not(
    warehouse: Warehouse,
) -> None:
    blind = planned(warehouse, recorded(Recorder()))
    assert "reads text only" in str(blind["idx-1"].state_reason)
    assert (blind["idx-1"].state, blind["idx-2"].state) == ("not_assessed", "pending")
    plan = planned(warehouse, recorded(Recorder(), reads=("pdf",)))["idx-1"]
    case = load_cases(warehouse, [plan])[plan.cell_id]
    server = GeminiServer()
    decided = at_server(server, lambda judge: BENCH.judge(case, judge), reads=("pdf",))
    assert [len(entry.files) for entry in server.log.entries] == [1]
    figures = BENCH.compute_figures(framed({"idx-1": decided}), recorded(Recorder()))
    known = {r["metric"]: (r["n_items"], r["reason"]) for r in figures.iter_rows(named=True)}
    assert known["rubric_total"] == (4, None)
    assert known["rubric_cut"][0] == 0
    assert "the report is a scan" in known["rubric_cut"][1]


@BOTH
def test_of_a_tiff_a_judge_is_shown_a_png_for_each_page(
    kind: type[ModelServer], warehouse: Warehouse
) -> None:
    sees = recorded(Recorder(), kind=KINDS[kind], reads=("image",))
    plan = planned(warehouse, sees)["idx-3"]
    assert (plan.state, plan.state_reason) == ("pending", None)
    case = load_cases(warehouse, [plan])[plan.cell_id]
    server = kind()
    at_server(server, lambda judge: BENCH.judge(case, judge), reads=("image",))
    assert [entry.files for entry in server.log.entries] == [arrived(*case.attachments)]
    assert [file.media_type for file in server.log.entries[0].files] == ["image/png"] * 2
    kept = warehouse.frame("SELECT media_type FROM report_files WHERE assignment = 'idx-3'")
    assert kept["media_type"].to_list()[0] == "image/tiff", "the original stays"
