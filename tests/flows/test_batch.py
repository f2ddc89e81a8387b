"""`evaluate --batch`: which judges cannot be asked so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import configured, write_configs


@pytest.fixture(scope="module")
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = write_configs(tmp_path_factory.mktemp("batch"), batch_api=True, timeout_seconds=30)
    with configured(folder):
        yield folder


@pytest.mark.parametrize(
    ("judge", "said"), [("offline", "offline calls no model"), ("local", "batch_api: true")]
)
def test_a_judge_that_cannot_be_asked_in_batches_says_why(
    sample: Path, configs: Path, evergreen: Evergreen, judge: str, said: str
) -> None:
    code, _, remarks = evergreen("evaluate", "--edition", "sample", "--judge", judge, "--batch",
                                 "--warehouse", sample)  # fmt: skip
    assert code == 1
    assert said in " ".join(remarks.split())
