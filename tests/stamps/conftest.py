import shutil
from pathlib import Path

import pytest

from tests.stamps.made_project import Project, made_project


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    made_project(folder)
    return folder


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Project:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path / "project")
