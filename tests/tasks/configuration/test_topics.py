"""The 15 categories of good articles, and what belongs to each."""

import shutil
from pathlib import Path

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import PACKAGED
from tasks.configuration.wikipedia import find_category, load_descriptions


def test_every_category_is_described() -> None:
    described = load_descriptions()
    assert len(described) == 15
    assert all(described.values())
    assert [find_category(name) for name in described] == [*described]


def test_a_description_of_no_category_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "good_article_topics.yaml"
    shutil.copy(PACKAGED / path.name, path)
    path.write_text(path.read_text("utf-8").replace("  Music: songs", "  Musik: songs"), "utf-8")
    with pytest.raises(ConfigurationError, match="Musik is not one of the categories"):
        load_descriptions(tmp_path)
