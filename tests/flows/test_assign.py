"""Questions from articles, by the command: what is refused before a model is asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, configured, write_configs
from tests.guarantees.tasks.test_questions import BRIDGES_ARTICLE, edition
from tests.servers.gemini import GeminiServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GeminiServer]:
    found = GeminiServer()
    with configured(write_configs(tmp_path_factory.mktemp("c"))), at_hand(found, "gemini"):
        yield found


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    with edition(tmp_path, BRIDGES_ARTICLE) as store:
        return Path(store.url)


ASSIGN = ("assign", "--edition", "e", "--protocol", "claim_discovery", "--judge", "gemini")


@pytest.mark.parametrize(
    ("judge", "said"),
    [("offline", "cannot make questions"), ("priceless", "has no price")],
)
def test_a_judge_that_cannot_is_refused_before_anything_starts(
    warehouse: Path, server: GeminiServer, evergreen: Evergreen, judge: str, said: str
) -> None:
    code, _, err = evergreen("--warehouse", warehouse, *ASSIGN[:-1], judge, "--budget", "1")
    assert code == 1
    assert said in err


def test_options_that_would_be_ignored_are_refused(warehouse: Path, evergreen: Evergreen) -> None:
    code, _, err = evergreen(
        "--warehouse", warehouse, "assign", "--edition", "e", "--articles", "3", "--batch"
    )
    assert code == 2
    assert "--articles, --batch" in err
