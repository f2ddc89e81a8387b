"""Build the wheel, install it into an empty environment, and use it outside the checkout.

    python -m tests.rigs.wheel

The working folder has modules of somebody's project with the names of ours. Installed are the
locked versions, resolved from the wheel's own metadata: a dependency it does not name is missing.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ("evergreen", "flows", "tasks")
FOREIGN_MODULE = "raise SystemExit('a module of somebody else')\n"
LIBRARY = "import evergreen; print(evergreen.__file__)"
HELPS = """
import contextlib, io, sys
import typer
from flows.cli.main import app, main
def names(command, above=()):
    for name, entry in getattr(command, "commands", {}).items():
        yield (*above, name)
        yield from names(entry.command, (*above, name))
for words in names(typer.main.get_command(app)):
    sys.argv = ["evergreen", *words, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main()
    assert "Usage" in said.getvalue(), (words, said.getvalue())
    print("Usage of", *words)
"""
AGENT = "lexical_baseline"
ASSIGNMENTS = ("Eddystone_Lighthouse", "Surtsey")
"""The archive has pages about them."""
SECONDS = 600


class WheelTrial:
    """An environment with the wheel, and a folder to use it in."""

    def __init__(self, folder: Path) -> None:
        self.environment = folder / "environment"
        self.project = folder / "project"
        self.bin = self.environment / "bin"
        self.variables = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
        }

    def install(self, wheel: Path, folder: Path) -> None:
        versions = folder / "versions.txt"
        locked = (ROOT / "requirements.lock").read_text("utf-8")
        versions.write_text("\n".join(re.findall(r"(?m)^([\w.-]+==.*?) \\$", locked)), "utf-8")
        subprocess.run([sys.executable, "-m", "venv", self.environment], check=True)
        subprocess.run(
            [self.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check",
             "--no-compile", "-c", versions, wheel],
            check=True, cwd=folder,
        )  # fmt: skip
        subprocess.run(  # pip does it on one core; templates that are no Python make it fail
            [self.bin / "python", "-m", "compileall", "-q", "-j", "0", self.environment / "lib"],
            check=False, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self, *command: str, cwd: Path | None = None) -> str:
        """Run a command of the environment; return what it prints.

        Raises:
            SystemExit: it failed.
        """
        print("$", " ".join(command), flush=True)
        done = subprocess.run(
            [self.bin / command[0], *command[1:]], cwd=cwd or self.project, env=self.variables,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if done.returncode or "Traceback" in done.stderr:
            raise SystemExit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel and return it."""
    # setuptools packs what an earlier build has left there, also modules that are gone.
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps",
         "--no-build-isolation", "-w", folder, ROOT],
        check=True,
    )  # fmt: skip
    [wheel] = folder.glob("evergreen_bench-*.whl")
    return wheel


def check_installed(trial: WheelTrial) -> None:
    """Check what the wheel put beside other packages."""
    [packages] = trial.environment.glob("lib/python3*/site-packages")
    for name in ("configs", "data", "sample", "tests", "docs"):
        assert not (packages / name).exists(), f"the wheel installs a package {name!r}"
    assert (packages / "evergreen" / "py.typed").exists()
    assert not list(packages.rglob("answer_key.csv")), "the sample's answer key is in the wheel"


def use(trial: WheelTrial) -> None:
    """Do what a new user does, in a folder with foreign modules."""
    trial.project.mkdir()
    for name in FOREIGN:
        (trial.project / f"{name}.py").write_text(FOREIGN_MODULE, "utf-8")
    expect("0.", trial.run("evergreen", "--version"))
    expect("offline", trial.run("evergreen", "judges"))
    expect(AGENT, trial.run("evergreen", "agents"))
    expect("sample_scholar", trial.run("evergreen", "demo"))
    trial.run("evergreen", "doctor", "--offline")
    expect("Usage of backup verify", trial.run("python", "-P", "-c", HELPS))
    back_up(trial)
    trial.run("evergreen", "assign", "--edition", "sample")
    # A program of ours, isolated: it must find its packages beside the sample, which it cannot read
    trial.run("evergreen", "ask", "--agent", AGENT, "--edition", "sample",
              *(f"--assignment={name}" for name in ASSIGNMENTS))  # fmt: skip
    trial.run("evergreen", "publish", "--to", "site")
    assert (trial.project / "site" / "index.html").exists()
    trial.run("evergreen", "init", "mine")
    trial.run("evergreen", "doctor", "--offline", cwd=trial.project / "mine")
    expect("site-packages", trial.run("python", "-P", "-c", LIBRARY))


def back_up(trial: WheelTrial) -> None:
    """Back the sample's warehouse up, verify and restore it: as a folder and as a file."""
    for to in ("backups", "backup.tar"):
        expect(to, trial.run("evergreen", "backup", "--to", to))
        expect("is whole", trial.run("evergreen", "backup", "verify", to))
        expect("is restored", trial.run("evergreen", "backup", "restore", to, "--replace"))
    expect("sample_scholar", trial.run("evergreen", "leaderboard"))


def expect(part: str, said: str) -> None:
    assert part in said, f"expected {part!r} in:\n{said}"


def measure(trial: WheelTrial) -> str:
    listed = trial.run("python", "-m", "pip", "list", "--format", "freeze", cwd=trial.environment)
    n_bytes = sum(
        path.stat().st_size for path in trial.environment.rglob("*") if not path.is_symlink()
    )
    return f"{len(listed.splitlines())} packages, {n_bytes / 1e6:,.0f} MB"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        trial = WheelTrial(folder)
        trial.install(wheel, folder)
        check_installed(trial)
        use(trial)
        print(f"The wheel works outside the checkout. Installed: {measure(trial)}.")


if __name__ == "__main__":
    main()
