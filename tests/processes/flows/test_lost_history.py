"""Prefect's history can be lost: the warehouse alone knows what is done."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.flows.llm_runs import ROOT, at_hand, environment
from tests.guarantees.flows.cli.test_llm_commands import folder
from tests.rigs.compared_tables import contents
from tests.servers.gemini import GeminiServer

__all__ = ["folder"]
AGAIN = """
import sys, evergreen
done = evergreen.evaluate(
    "sample", judge="gemini", agents=["sample_sketch"], protocols=["wiki_fact"],
    warehouse=sys.argv[1],
)
print(done.complete, done.message)
"""


def test_a_run_after_prefects_database_and_results_are_gone_buys_and_computes_nothing(
    folder: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(folder / "prepared.duckdb", tmp_path / "w.duckdb"))
    home, server = tmp_path / "prefect", GeminiServer()
    command = ["-m", "flows", "evaluate", "--edition", "sample", "--judge", "gemini", "--agent",
               "sample_sketch", "--protocol", "wiki_fact", "--warehouse", str(path)]  # fmt: skip
    with at_hand(server, "gemini"):
        given = environment(folder / "configs", home, EVERGREEN_SERVER_MINUTES="0")
        own = {name: text for name, text in given.items() if not name.startswith("PREFECT_API_")}

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
                env=own,
            )  # fmt: skip

        first = run(*command)
        assert first.returncode == 0, first.stderr
        bought, made = len(server.log.entries), contents(path)
        assert bought > 3
        assert (home / "prefect.db").exists()
        shutil.rmtree(home)
        again = run("-c", AGAIN, str(path))
    assert again.stdout == "True Cached: sample is evaluated.\n", again.stderr
    assert (home / "prefect.db").exists(), "the run took place"
    assert len(server.log.entries) == bought
    assert contents(path) == made
