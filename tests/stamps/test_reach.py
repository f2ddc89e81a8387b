"""A change of what a unit can reach changes its sha; a change of anything else does not."""

import shutil
from pathlib import Path

import pytest

from tests.stamps.made_project import Project
from tests.stamps.reach import Reach
from tests.stamps.tree import Tree

SHARES = "tests/tasks/test_shares.py"
BOARD = "tests/long/test_board.py"


def reached(project: Project, *files: str) -> frozenset[str]:
    return Reach(Tree(project.root)).of(files)


def reached_with(project: Project, code: str) -> frozenset[str]:
    """What a file of tests with this code reaches."""
    project.write("tests/test_new.py", code)
    return reached(project, "tests/test_new.py")


def test_imports_are_followed_to_their_end(project: Project) -> None:
    found = reached(project, BOARD)
    assert {"tasks/board.py", "tasks/metrics/shares.py", "tasks/metrics/__init__.py"} <= found
    assert not found & {"tasks/other.py", "flows/cli/main.py", "configs/judges.yaml"}


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("tasks/metrics/shares.py", True),
        ("tasks/metrics/__init__.py", True),
        ("tasks/__init__.py", True),
        ("tests/tasks/conftest.py", True),
        ("tests/conftest.py", True),
        ("requirements.lock", True),
        ("pyproject.toml", True),
        (SHARES, True),
        ("tasks/other.py", False),
        ("tests/tasks/test_reading.py", False),
        ("configs/judges.yaml", False),
        ("README.md", False),
        ("docs/page.md", False),
        ("ignored/file.py", False),
        (".ci/stamps/test", False),
        ("../shared/data/other.csv", False),
    ],
)
def test_a_change_matters_to_a_file_of_tests_that_reaches_it(
    path: str, matters: bool, project: Project
) -> None:
    before = reached(project, SHARES)
    tree = Tree(project.root)
    shas = {each: tree.sha(each) for each in before}
    project.write(path, "# changed\n" if path != SHARES else "import tasks.metrics.shares\n")
    tree = Tree(project.root)
    assert ({each: tree.sha(each) for each in reached(project, SHARES)} != shas) == matters


def test_other_files_of_a_package_come_with_its_modules(project: Project) -> None:
    assert "tasks/store/sql/one.sql" in reached(project, "tests/tasks/test_reading.py")
    assert "tasks/store/sql/one.sql" not in reached(project, SHARES)


def test_a_new_conftest_is_reached(project: Project) -> None:
    project.write("conftest.py", "")
    assert "conftest.py" in reached(project, SHARES)


@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run([sys.executable, '-m', 'flows', 'evaluate'])",
        "subprocess.run(['bin/evergreen', 'evaluate'])",
        "subprocess.run(['evergreen', 'evaluate'])",
        "subprocess.run('python -m flows evaluate', shell=True)",
        "subprocess.run([sys.executable, '-c', 'import flows; flows.go()'])",
        "subprocess.run([sys.executable, '-c', 'from flows.cli.main import main; main()'])",
        "import flows.cli.main",
        "def late():\n    from flows.cli import main",
        "import_module(name)",
        "import_module('tasks.' + name)",
        "runpy.run_path(path)",
    ],
)
def test_what_starts_the_command_reaches_the_whole_product(code: str, project: Project) -> None:
    found = reached_with(project, code)
    assert {"flows/cli/main.py", "tasks/other.py", "tasks/store/sql/one.sql"} <= found
    assert "configs/judges.yaml" in found


@pytest.mark.parametrize(
    ("code", "file"),
    [
        ("import_module('tasks.other')", "tasks/other.py"),
        ("import_module(f'tasks.{name}')", "tasks/other.py"),
        ("import_module(f'tasks.store.{name}')", "tasks/store/reading.py"),
        ("files('tasks.store')", "tasks/store/reading.py"),
        ("setattr('tasks.other.function', None)", "tasks/other.py"),
        ("run([sys.executable, '-m', 'tests.rigs.model'])", "tests/rigs/model.py"),
        ("pytest_plugins = ['tests.rigs.model']", "tests/rigs/model.py"),
        ("run([sys.executable, ROOT / 'tests' / 'rigs' / 'model.py'])", "tests/rigs/model.py"),
        ("run('from tests.rigs.model import x')", "tests/rigs/model.py"),
        ("ROOT / 'configs' / 'judges.yaml'", "configs/judges.yaml"),
        ("CONFIGS = ROOT / 'configs'", "configs/judges.yaml"),
        ("(ROOT / 'configs').glob('*.yaml')", "configs/judges.yaml"),
        ("open('configs/judges.yaml')", "configs/judges.yaml"),
        ("open(f'{ROOT}/configs/{name}.yaml')", "configs/judges.yaml"),
        ("ROOT / '../shared/data/other.csv'", "shared/data/other.csv"),
        ("ROOT.parent / 'shared' / 'data'", "shared/data/other.csv"),
        ("shared = Path('../shared')", "shared/data/other.csv"),
        ("Path(__file__).with_name('test_other.py')", "tests/test_other.py"),
        ("ROOT / 'Makefile'", "Makefile"),
        ("ROOT / '.gitignore'", ".gitignore"),
    ],
)
def test_a_text_that_names_something_reaches_it(code: str, file: str, project: Project) -> None:
    project.write("tests/test_other.py", "")
    found = reached_with(project, code)
    assert file in found
    assert "flows/cli/main.py" not in found


@pytest.mark.parametrize(
    "code",
    [
        '"""Beside flows.cli.main, `python -m flows`, configs/judges.yaml and tasks.other."""',
        "# flows.cli.main, configs/judges.yaml, tasks.other",
        "raise ValueError('evergreen evaluate does it in all flows and other tasks')",
        "open('other/tasks.jsonl')",
        "from pathlib import Path",
        "import_module('prefect')",
        "find_spec(f'extension_{name}')",
        "skip('it is not in ../shared')",
    ],
)
def test_what_only_speaks_of_something_does_not_reach_it(code: str, project: Project) -> None:
    plain = reached_with(project, "")
    assert reached_with(project, code) == plain


def test_of_a_path_only_what_it_leads_to_is_reached(project: Project) -> None:
    found = reached_with(project, "ROOT.parent / 'shared' / 'data' / 'wlc'")
    assert "shared/data/wlc/articles.md" in found
    assert "shared/data/other.csv" not in found


def test_configuration_names_programs_too(project: Project) -> None:
    project.write("configs/agents.yaml", "command: [python, -m, tasks.other]  # not tasks.board\n")
    found = reached_with(project, "ROOT / 'configs'")
    assert "tasks/other.py" in found
    assert "tasks/board.py" not in found


def test_a_fresh_clone_has_the_same_shas(project: Project, tmp_path: Path) -> None:
    project.write("ignored/junk.py", "")
    project.write("configs/Königsberg.yaml", "a: 1\n")
    project.commit()
    project.git("clone", "--quiet", ".", str(tmp_path / "elsewhere" / "clone"))
    shutil.copytree(tmp_path / "shared", tmp_path / "elsewhere" / "shared")
    clone = Project(tmp_path / "elsewhere" / "clone")
    for target in ("demo", "test", "rig-formats"):
        assert clone.sha(target) == project.sha(target)


def test_a_file_that_git_does_not_know_yet_counts_and_one_that_is_deleted_does_not(
    project: Project,
) -> None:
    project.write("tasks/new.py", "")
    (project.root / "tasks" / "other.py").unlink()
    files = Tree(project.root).files
    assert "tasks/new.py" in files
    assert "tasks/other.py" not in files
