"""A draft waits for the answers that are missing, and the next run asks for no others."""

from pathlib import Path

import pytest

from tests.tasks.answering import answering
from tests.tasks.drafted_articles import FACTS, Model, edition, work


@pytest.mark.parametrize(
    ("broken", "step", "left"),
    [("known_facts", "draft_rubrics", 4), ("drafted_rubric", "check_rubrics", 3),
     ("subject_from_memory", "write_closed_book", 1), ("item", "grade_item", 1)],
)  # fmt: skip
def test_a_step_without_an_answer_leaves_no_file_and_is_all_that_the_next_run_asks(
    broken: str, step: str, left: int, tmp_path: Path
) -> None:
    model, folder = Model(broken, memory=FACTS[:2]), tmp_path / "drafts"
    with edition(tmp_path) as warehouse, answering(model=model) as server:
        (said,) = work(warehouse, folder)
        assert said.startswith(f"{step}: ")
        assert "Run again to continue." in said
        assert not folder.exists()
        model.broken.clear()
        before = server.log.summary()["answered"]
        assert work(warehouse, folder) == []
        assert server.log.summary()["answered"] - before <= left + 1
        assert [path.name for path in folder.iterdir()] == ["Red_Lighthouse.yaml"]
