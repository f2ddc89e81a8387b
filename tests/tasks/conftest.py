"""What the tests of all packages share."""

from collections.abc import Iterator

import bm25s.stopwords  # noqa: F401 - loaded here, not within an example that Hypothesis times
import markdown_it  # noqa: F401
import nupunkt  # noqa: F401
import pytest

from tests.warehouses import copied_from_a_template


@pytest.fixture(scope="session", autouse=True)
def template(
    warehouses: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """New files are copies; those of lakes are migrated each."""
    if request.config.getoption("--lake"):
        yield
        return
    with copied_from_a_template(tmp_path_factory.mktemp("template")):
        yield
