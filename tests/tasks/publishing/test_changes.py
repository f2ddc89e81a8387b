"""What judging again has changed on the board."""

from pathlib import Path

import polars as pl
import pytest

from tasks.publishing.changes import (
    CHANGES,
    BoardChanges,
    ComparisonStart,
    check_changes_folder,
    clear_comparison,
    compare_figures,
    load_changes,
    load_unfinished,
    save_changes,
    save_start,
)
from tasks.scoring.pending import SCORER_VERSION
from tasks.site.mark import UnwritableSite

BOARD = {
    "protocol": "wiki_fact", "agent": "a", "metric": "ref_acc", "judge": "offline",
    "value": 0.5, "n_items": 4, "n_reports": 2, "provisional": False,
}  # fmt: skip


def board(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame([BOARD | row for row in rows], infer_schema_length=None)


def test_a_board_that_stayed_as_it_was_has_no_changes() -> None:
    same = board({}, {"metric": "wiki_conflict", "value": None})
    assert compare_figures(same, same) == ()


def test_new_gone_and_other_figures_are_told_with_what_they_rest_on() -> None:
    before = board({}, {"metric": "leakage_rate"}, {"metric": "evaluated_share"})
    after = board(
        {"value": 0.75, "n_items": 8},
        {"metric": "evaluated_share"},
        {"judge": "local", "value": 0.2, "n_items": 1, "n_reports": 1, "provisional": True},
    )
    found = {(each.metric, each.judge): each for each in compare_figures(before, after)}
    assert set(found) == {
        ("ref_acc", "offline"), ("leakage_rate", "offline"), ("ref_acc", "local")
    }  # fmt: skip
    changed = found["ref_acc", "offline"]
    assert (changed.before, changed.after) == (0.5, 0.75)
    assert (changed.items_before, changed.items_after) == (4, 8)
    new = found["ref_acc", "local"]
    assert (new.before, new.reports_before, new.after, new.provisional) == (None, 0, 0.2, True)
    gone = found["leakage_rate", "offline"]
    assert (gone.before, gone.after, gone.items_after) == (0.5, None, 0)


def test_a_figure_that_rests_on_more_items_is_a_change_though_its_value_is_the_same() -> None:
    [change] = compare_figures(board({}), board({"n_items": 9}))
    assert (change.items_before, change.items_after) == (4, 9)


def test_what_was_kept_of_changes_is_read_as_it_was(tmp_path: Path) -> None:
    assert load_changes(tmp_path) is None
    changes = BoardChanges(figures=compare_figures(board({}), board({"value": None})))
    save_changes(tmp_path, changes)
    assert load_changes(tmp_path) == changes


def test_changes_that_an_earlier_version_kept_are_read(tmp_path: Path) -> None:
    """It compared the files of two sites too."""
    (tmp_path / CHANGES).write_text('{"figures": [], "files": [], "n_files": 1, "complete": false}')
    assert load_changes(tmp_path) == BoardChanges(figures=(), complete=False)


def begun(folder: Path, *rows: dict[str, object], version: str = SCORER_VERSION) -> ComparisonStart:
    """A run has begun: its figures before are there."""
    found = ComparisonStart(
        edition="e", judge="local", scorer_version=version, figures=board(*rows).to_dicts()
    )
    save_start(folder, found)
    return found


def test_what_an_ended_run_began_with_is_kept_for_the_one_that_goes_on(tmp_path: Path) -> None:
    assert load_unfinished(tmp_path, "e", "local") is None
    kept = begun(tmp_path, {"value": 0.1 + 0.2}, {"metric": "wiki_conflict", "value": None})
    found = load_unfinished(tmp_path, "e", "local")
    assert found == kept
    assert found is not None
    assert found.board.equals(kept.board)
    assert compare_figures(found.board, kept.board) == ()
    assert load_unfinished(tmp_path, "f", "local") is None
    assert load_unfinished(tmp_path, "e", "offline") is None
    save_changes(tmp_path, BoardChanges(figures=(), complete=False))
    assert load_unfinished(tmp_path, "e", "local") == kept
    check_changes_folder(tmp_path)


@pytest.mark.parametrize("version", ["", "4"])
def test_what_another_scorer_began_is_not_compared_with(version: str, tmp_path: Path) -> None:
    begun(tmp_path, {}, version=version)
    with pytest.raises(UnwritableSite, match="figures of the same name may mean something else"):
        load_unfinished(tmp_path, "e", "local")
    assert load_unfinished(tmp_path, "f", "local") is None


def test_a_run_after_a_finished_one_begins_anew(tmp_path: Path) -> None:
    begun(tmp_path, {})
    save_changes(tmp_path, BoardChanges(figures=()))
    assert load_unfinished(tmp_path, "e", "local") is None
    clear_comparison(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_edition_without_figures_can_be_begun_with(tmp_path: Path) -> None:
    nothing = ComparisonStart(edition="e", judge="local", figures=[])
    assert [change.before for change in compare_figures(nothing.board, board({}))] == [None]


def test_a_folder_with_other_files_is_refused_and_an_earlier_comparison_is_not(
    tmp_path: Path,
) -> None:
    check_changes_folder(tmp_path / "new")
    (tmp_path / "before").mkdir()
    (tmp_path / "changes.json").write_text("{}")
    check_changes_folder(tmp_path)
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UnwritableSite, match="holds other files"):
        check_changes_folder(tmp_path)
    (tmp_path / "thesis.txt").rename(tmp_path / "before" / "thesis.txt")
    with pytest.raises(UnwritableSite, match=r"not a site by Evergreen.*--to"):
        check_changes_folder(tmp_path)
