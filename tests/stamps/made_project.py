"""A small project with a Makefile, tests, a rig, and shared data beside it."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.stamps import outcomes
from tests.stamps.units import Units

MAKEFILE = f"""
BIN := bin
ITEMS ?= 25

demo: ## Show it
	$(BIN)/evergreen demo

test: ## The quick ones
	{sys.executable} -m pytest -q tests --ignore=tests/long $(PYTEST)

test-long: ## Those that take a minute
	{sys.executable} -m pytest -q tests/long $(PYTEST)

test-lake:
	{sys.executable} -m pytest -q --durations 1 tests/tasks $(PYTEST)

rig-wheel:
	{sys.executable} -m tests.rigs.kills

rig-questions:
	{sys.executable} -m tests.rigs.questions --items $(ITEMS)

rig-formats:
	{sys.executable} -m tests.rigs.formats

rig-kills:
	{sys.executable} -m tests.rigs.kills

rig-prefect:
	{sys.executable} -m tests.rigs.kills

rig-local-model:
	if make -s model/ready; then {sys.executable} -m tests.rigs.model; fi

model/ready:
	touch $@
"""
FILES = {
    "Makefile": MAKEFILE,
    "README.md": "Read me.\n",
    ".gitignore": "ignored/\n__pycache__/\n.pytest_cache/\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\n',
    "requirements.lock": "a==1\n",
    "configs/judges.yaml": "judge: offline\n",
    "flows/__init__.py": "",
    "flows/cli/main.py": "from tasks.board import board\n",
    "tasks/__init__.py": "",
    "tasks/board.py": "from tasks.metrics.shares import share\nboard = [share]\n",
    "tasks/other.py": "",
    "tasks/metrics/__init__.py": "",
    "tasks/metrics/shares.py": "share = 1\n",
    "tasks/store/__init__.py": "",
    "tasks/store/reading.py": "",
    "tasks/store/sql/one.sql": "SELECT 1\n",
    "tests/__init__.py": "",
    "tests/conftest.py": "",
    "tests/tasks/__init__.py": "",
    "tests/tasks/conftest.py": "",
    "tests/tasks/test_shares.py": "from tasks.metrics.shares import share\n"
    "def test_it(): assert share == 1\n",
    "tests/tasks/test_reading.py": "import tasks.store.reading\ndef test_it(): pass\n",
    "tests/long/__init__.py": "",
    "tests/long/test_board.py": "from tasks.board import board\n",
    "tests/long/test_other.py": "import tasks.other\ndef test_it(): pass\n",
    "tests/rigs/__init__.py": "",
    "tests/rigs/questions.py": "import tasks.other\nprint('asked')\n",
    "tests/rigs/formats.py": "from pathlib import Path\nimport tasks.store.reading\n"
    "DATA = Path(__file__).parents[3] / 'shared' / 'data' / 'wlc'\n",
    "tests/rigs/kills.py": "import subprocess, sys\n"
    "def run(): subprocess.run([sys.executable, '-m', 'flows', 'evaluate'])\n",
    "tests/rigs/model.py": "",
}
BESIDE = {"shared/data/wlc/articles.md": "# Articles\n", "shared/data/other.csv": "1\n"}


@dataclass(frozen=True)
class Project:
    root: Path

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def sha(self, target: str, name: str = "") -> str:
        return Units(self.root).sha(target, name or target)

    def git(self, *arguments: str) -> None:
        who = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self, message: str = "a change") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)


def made_project(folder: Path) -> Project:
    project = Project(folder / "project")
    for path, text in FILES.items():
        project.write(path, text)
    for path, text in BESIDE.items():
        project.write(f"../{path}", text)
    (project.root / "tests" / "stamps").mkdir()
    for file in (Path(outcomes.__file__), Path(outcomes.__file__).with_name("__init__.py")):
        shutil.copy(file, project.root / "tests" / "stamps")  # what `make` has pytest load
    project.git("init", "--quiet")
    project.commit()
    return project
