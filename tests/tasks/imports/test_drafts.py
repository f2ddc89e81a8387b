"""Drafted bundles come in once a person has reviewed them; drafts only where that is asked for."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rigorous_drafts import (
    DraftEntry,
    DraftFile,
    DraftRubric,
    read_draft,
    render_draft,
)
from tasks.drafts import count_unreviewed
from tasks.editions.names import UnknownName
from tasks.imports.drafts import import_draft
from tasks.protocols.registry import get_protocol
from tasks.scoring.pending import SCORER_VERSION
from tasks.scoring.rows import build_leaderboard_rows
from tasks.warehouse.pages import Page
from tasks.warehouse.results import UNREVIEWED, AgentPair, LeaderboardRow, Score
from tasks.warehouse.rubrics import BundleSettings, Rubric, RubricBundle
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.benchmarks.test_rigorous import content
from tests.tasks.drafted_articles import FACTS, TITLE, edition
from tests.tasks.made_rows import a_row

Said = dict[str, Any]
DRAFT = DraftFile(
    edition="e",
    drafted_by="a judge (a model)",
    closed_book_share=0.6,
    too_easy=True,
    entry=DraftEntry(
        uid="Red_Lighthouse",
        query=TITLE,
        qsr=tuple(
            DraftRubric(n=n, rubric=f"Does the report say: {FACTS[n]}?", yes=3, no=0,
                        partial=1 if n % 2 else None, facts={n + 1: FACTS[n]})
            for n in range(10)
        ),
        tsl=("https://alive.example.org/c",),
        fak=("lantern", "granite", "keeper", "0-RTT", "1882"),
        fdk=("a", "b", "no", "yes", "null"),
    ),
    links={"https://alive.example.org/c": "ok"},
)  # fmt: skip


OF = {"protocol": "rigorous", "metric": "rigorous_quality", "assignment": "Red_Lighthouse"}
SCORE = a_row(Score, **OF, numerator=0.5, n_items=1)
ROW = a_row(LeaderboardRow, protocol=OF["protocol"], metric=OF["metric"])
PAIR = a_row(AgentPair, protocol=OF["protocol"], metric=OF["metric"], difference=0.1)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with edition(tmp_path_factory.mktemp("w")) as opened:
        yield opened


@pytest.fixture
def general(tmp_path: Path) -> Path:
    path = tmp_path / "entries.json"
    path.write_text(json.dumps(content()), "utf-8")
    return path


def written(
    folder: Path, change: Callable[[Said], object] = lambda said: None, by: str | None = None
) -> Path:
    """The draft's file with a change made to it, reviewed by somebody or by nobody."""
    said = yaml.safe_load(render_draft(DRAFT))
    said["reviewed_by"] = by
    change(said)
    path = folder / "draft.yaml"
    path.write_text(yaml.safe_dump(said, allow_unicode=True, sort_keys=False), "utf-8")
    return path


def test_a_draft_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "draft.yaml"
    path.write_text(render_draft(DRAFT), "utf-8")
    assert read_draft(path) == DRAFT
    assert "reviewed_by:\n" in path.read_text("utf-8")
    path.write_text(render_draft(DRAFT).replace("'yes':", "yes:").replace("'no':", "no:"), "utf-8")
    assert read_draft(path) == DRAFT, "as people write it"


def test_what_nobody_has_reviewed_comes_in_only_as_a_draft_and_a_review_replaces_it(
    warehouse: Warehouse, general: Path, tmp_path: Path
) -> None:
    path = written(tmp_path)
    with pytest.raises(EditionError, match=r"nobody has reviewed it.*--as-draft"):
        import_draft(warehouse, path, "e", general)
    with pytest.raises(EditionError, match=r"nobody has reviewed it"):
        import_draft(warehouse, written(tmp_path, by="  "), "e", general)
    with pytest.raises(EditionError, match=r"No edition of this warehouse has general rubrics yet"):
        import_draft(warehouse, path, "e", as_draft=True)

    found = import_draft(warehouse, path, "e", general, as_draft=True)
    assert (found.rubrics, found.reviewed_by, found.changed) == (58, None, True)
    assert (found.too_easy, found.closed_book_share) == (True, 0.6)
    [bundle] = warehouse.rows(RubricBundle, "true")
    assert (bundle.source, bundle.n_items) == ("drafted", 58)
    settings = BundleSettings.model_validate_json(bundle.settings)
    assert (settings.draft, settings.theme) == (True, "Geography")
    assert count_unreviewed(warehouse, "e") == 1
    assert not import_draft(warehouse, path, "e", general, as_draft=True).changed

    warehouse.write(
        Change(Score, [SCORE]), Change(LeaderboardRow, [ROW]), Change(AgentPair, [PAIR])
    )
    mended = written(tmp_path, lambda s: s["entry"]["qsr"].pop(0) and s["entry"]["qsr"][0].update(
        yes=6), by="Ada")  # fmt: skip
    assert import_draft(warehouse, mended, "e").reviewed_by == "Ada", "by the warehouse's own"
    rubrics = warehouse.rows(Rubric, "true")
    assert sorted(r.number for r in rubrics) == list(range(57))
    assert sum(r.points for r in rubrics if r.dimension == "query") == 30
    assert sum(r.points for r in rubrics if r.dimension == "general") == 73
    assert count_unreviewed(warehouse, "e") == 0
    assert warehouse.rows(Score, "true") == [], "they rested on the draft"
    assert warehouse.rows(LeaderboardRow, "true") == []
    assert warehouse.rows(AgentPair, "true") == []
    assert not import_draft(warehouse, mended, "e").changed

    with pytest.raises(EditionError, match=r"a reviewed rubric for 'Red_Lighthouse'.*never change"):
        import_draft(warehouse, written(tmp_path), "e", as_draft=True)
    with pytest.raises(EditionError, match="a reviewed rubric"):
        import_draft(warehouse, written(tmp_path, by="Bob"), "e")


def test_a_reviewed_bundle_has_trusted_links_that_are_not_known_to_be_dead(
    warehouse: Warehouse, general: Path, tmp_path: Path
) -> None:
    dead = Page(edition="e", url="https://gone.example.org/x", status="unfetchable")
    warehouse.write(Change(Page, [dead]))
    path = written(tmp_path, lambda s: s["entry"].update(tsl=[]), by="Ada")
    with pytest.raises(EditionError, match=r"`entry\.tsl`: there are no trusted links"):
        import_draft(warehouse, path, "e", general)
    gone = ["http://www.gone.example.org/x"]
    path = written(tmp_path, lambda s: s["entry"].update(tsl=gone), by="Ada")
    with pytest.raises(
        EditionError, match=r"gone\.example\.org/x could not be fetched .*unfetchable"
    ):
        import_draft(warehouse, path, "e", general)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["entry"]["fdk"].__setitem__(0, "GRANITE"), "'granite' is a focus keyword as"),
        (lambda s: s["entry"]["qsr"].pop(), r"`entry\.qsr`: the rubrics are worth 27 points"),
        (lambda s: s["entry"].update(qsr=s["entry"]["qsr"][:7]), "7 rubrics; an entry needs at"),
        (lambda s: s["entry"]["fak"].pop(), r"`entry\.fak`: 4 keywords; expected 5 different"),
        (lambda s: s["entry"]["fdk"].append("c"), r"`entry\.fdk`: 6 keywords"),
        (lambda s: s["entry"]["fak"].__setitem__(0, "Granite"), "5 keywords; expected 5 different"),
        (lambda s: s["entry"]["fak"].__setitem__(0, "lighthouses"), "'lighthouses' comes from"),
        (lambda s: s["entry"]["tsl"].append("example.org"), r"`entry\.tsl\.1`: expected a web"),
        (lambda s: s["entry"]["qsr"][0].update(yes="3"), r"`entry\.qsr\.0\.yes`"),
        (
            lambda s: s["entry"]["qsr"][0].update(no=4),
            r"`entry\.qsr\.0`: expected decreasing values",
        ),
        (lambda s: s.update(reviewed_by=True), "`reviewed_by`: expected a text"),
        (lambda s: s.update(status="final"), "`status`: Input should be 'draft' or 'reviewed'"),
        (lambda s: s.update(edition="f"), "`edition`: it was drafted for f, not e"),
        (lambda s: s["entry"].update(uid="Blue"), "`entry.uid`: e has no assignment 'Blue'"),
        (lambda s: s.update(more=1), "`more`: Extra inputs"),
        (lambda s: s.pop("entry"), "`entry`: it is missing"),
        (lambda s: s.update(closed_book_share=float("nan")), "`closed_book_share`"),
    ],
)
def test_a_draft_that_is_no_bundle_is_refused_with_what_to_mend(
    change: Callable[[Said], object],
    message: str,
    warehouse: Warehouse,
    general: Path,
    tmp_path: Path,
) -> None:
    before = warehouse.rows(Rubric, "true")
    with pytest.raises(EditionError, match=rf"draft\.yaml: .*{message}"):
        import_draft(warehouse, written(tmp_path, change, by="Ada"), "e", general)
    assert warehouse.rows(Rubric, "true") == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "expected a mapping"),
        ("a: [", "not valid YAML"),
        ("a: " + "[" * 3_000, "not valid YAML|nested too deeply"),
        ("x" * 2_100_000, "larger than 2,000,000 bytes"),
    ],
)
def test_a_file_that_is_no_draft_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "draft.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(EditionError, match=rf"draft\.yaml.*({message})"):
        read_draft(path)
    with pytest.raises(EditionError, match="there is no such file"):
        read_draft(tmp_path / "none.yaml")


def test_an_unknown_edition_is_named(warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no edition 'f'"):
        import_draft(warehouse, written(tmp_path), "f")


def test_figures_that_rest_on_a_draft_are_provisional_and_say_why(
    tmp_path: Path, general: Path
) -> None:
    rigorous = get_protocol("rigorous")
    score = SCORE.model_copy(update={"scorer_version": f"{SCORER_VERSION}/{rigorous.version}"})
    with edition(tmp_path / "w") as warehouse:
        import_draft(warehouse, written(tmp_path), "e", general, as_draft=True)
        warehouse.write(Change(Score, [score]))
        [row] = build_leaderboard_rows(warehouse, "e", [rigorous])
        assert (row.value, row.provisional, row.n_open, row.reason) == (0.5, True, 0, UNREVIEWED)
        import_draft(warehouse, written(tmp_path, by="Ada"), "e", general)
        warehouse.write(Change(Score, [score]))
        [row] = build_leaderboard_rows(warehouse, "e", [rigorous])
        assert (row.value, row.provisional, row.reason) == (0.5, False, None)
