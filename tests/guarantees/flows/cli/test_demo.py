"""What the demo shows at its end convinces: ranks that differ, ties that are said, and a report in
which something is wrong."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from flows.display.demo import print_demo
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen


def test_the_demos_end_says_what_its_board_means_and_where_to_look(
    whole: Path, tmp_path: Path, evergreen: Evergreen, capfd: pytest.CaptureFixture[str]
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "w.duckdb"))
    with open_warehouse(path) as store:
        capfd.readouterr()
        print_demo(store, "sample", "wiki_fact", "offline")
    shown = capfd.readouterr()
    assert shown.out.count("Agent") == 1  # one board
    assert re.search(r"1–2 +sample_scholar +[\d.]+ +[\d.]+–[\d.]+", shown.out)
    assert "1–2: sample_scholar and sample_lecturer cannot be told apart with 8 articles." in (
        shown.out
    )
    assert "sample_blogger (3) and sample_sketch (4) differ significantly from" in shown.out
    [command] = [line for line in shown.out.splitlines() if "evergreen explain" in line]
    words = shlex.split(command)[1:]
    code, out, _ = evergreen(*words, "--format", "json", "--warehouse", path)
    assert code == 0
    outcomes = [claim["outcomes"]["offline"] for claim in json.loads(out)["claims"]]
    assert outcomes.count("not_supported") > len(outcomes) / 2
