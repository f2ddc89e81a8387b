"""What the cells of DeepResearchGym rest on, in a warehouse."""

import pytest

from tasks.judges.decisions import Judge
from tasks.judging.cells import CellPlan, plan_cells
from tasks.key_points import find_pending_key_points
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.protocols.registry import get_protocol
from tasks.warehouse.rows import Article, Citation, Report, content_sha
from tasks.warehouse.rubrics import KeyPoint, PointSet, hash_key_points
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import ASSIGNMENT, EDITION, page, write_edition
from tests.tasks.judges.recording import Recorder, recorded

A, B = "https://a.org", "https://b.org"
TOKENS = 2_500
HALF = int(TOKENS * BYTES_PER_TOKEN) // 2 + 1


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """Reports by what their claims cite: one page each, or two together."""
    reports = {
        "apart": [("red tower", [A]), ("blue door", [B])],
        "together": [("red tower", [A, B])],
    }
    write_edition(warehouse, reports, [page(A, "a" * HALF), page(B, "b" * HALF)])
    return warehouse


def plans(warehouse: Warehouse, judge: Judge) -> dict[str, CellPlan]:
    found = plan_cells(warehouse, EDITION, get_protocol("research_gym"), judge)
    return {plan.agent: plan for plan in found}


def write_points(warehouse: Warehouse, source: str, *texts: str) -> None:
    points = [
        KeyPoint(edition=EDITION, assignment=ASSIGNMENT, number=number, text=text)
        for number, text in enumerate(texts, start=1)
    ]
    found = PointSet.model_validate(
        {"edition": EDITION, "assignment": ASSIGNMENT, "source": source, "extractor_version": "1",
         "input_sha": "t", "output_sha": hash_key_points(points), "n_points": len(points),
         "n_found": 0, "n_spans": 0, "n_verbatim": 0}
    )  # fmt: skip
    of = {"edition": EDITION, "assignment": ASSIGNMENT}
    warehouse.write(Change(PointSet, [found], replacing=of), Change(KeyPoint, points, replacing=of))


@pytest.mark.parametrize(
    ("protocol", "changes"), [("research_gym", True), ("fact", True), ("wiki_fact", False)]
)
def test_another_kind_of_pair_makes_another_cell_where_kinds_count(
    warehouse: Warehouse, protocol: str, changes: bool
) -> None:
    def cell() -> str:
        found = plan_cells(warehouse, EDITION, get_protocol(protocol), ScriptedJudge())
        return next(plan.cell_id for plan in found if plan.agent == "apart")

    before = cell()
    pairs = warehouse.rows(Citation, "agent = 'apart'")
    far = [pair.model_copy(update={"kind": "inferred"}) for pair in pairs]
    warehouse.write(Change(Citation, far, replacing={"edition": EDITION, "agent": "apart"}))
    assert (cell() != before) is changes


def test_key_points_make_other_cells_and_their_absence_keeps_none_waiting(
    warehouse: Warehouse,
) -> None:
    bare = plans(warehouse, ScriptedJudge())
    assert {(plan.state, plan.state_reason) for plan in bare.values()} == {("pending", None)}
    write_points(warehouse, "judge", "red tower")
    one = plans(warehouse, ScriptedJudge())
    write_points(warehouse, "judge", "red tower", "blue door")
    two = plans(warehouse, ScriptedJudge())
    for agent in bare:
        assert len({plan[agent].cell_id for plan in (bare, one, two)}) == 3


def test_pages_that_are_cut_only_together_are_part_of_the_keys_of_those_cells(
    warehouse: Warehouse,
) -> None:
    def ids(page_tokens: int) -> dict[str, str]:
        judge = recorded(Recorder(), page_tokens=page_tokens)
        return {agent: plan.cell_id for agent, plan in plans(warehouse, judge).items()}

    whole, cut = ids(10 * TOKENS), ids(TOKENS)
    assert whole["apart"] == cut["apart"]
    assert whole["together"] != cut["together"]


def test_an_assignment_waits_for_key_points_until_it_has_some_or_is_known_to_have_none(
    warehouse: Warehouse,
) -> None:
    assert [item.assignment for item in find_pending_key_points(warehouse, EDITION)] == [ASSIGNMENT]
    assert [item.text_sha for item in find_pending_key_points(warehouse, EDITION, ["apart"])] == [
        "t"
    ]
    assert find_pending_key_points(warehouse, EDITION, ["nobody"]) == []
    for source in ("judge", "published"):
        write_points(warehouse, source)
        assert find_pending_key_points(warehouse, EDITION) == []


def test_nothing_is_made_where_there_is_no_report_or_no_article(warehouse: Warehouse) -> None:
    of = {"edition": EDITION}
    reports = warehouse.rows(Report, "true")
    empty = [report.model_copy(update={"text": "", "status": "empty"}) for report in reports]
    warehouse.write(Change(Report, empty, replacing=of))
    assert find_pending_key_points(warehouse, EDITION) == []
    warehouse.write(Change(Report, reports, replacing=of))
    (article,) = warehouse.rows(Article, "true")
    bare = article.model_copy(update={"text": "", "text_sha": content_sha("")})
    warehouse.write(Change(Article, [bare], replacing=of))
    assert find_pending_key_points(warehouse, EDITION) == []
