"""Everything that ids of bought answers and verdicts rest on, as short shas.

`python -m tests.ids > tests/ids.json` writes them anew: only where a change is meant to have
every verdict concerned asked for, and paid for, again.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from tasks.configuration.folders import PACKAGED
from tasks.configuration.inversion import load_inversion
from tasks.configuration.models import load_judges
from tasks.imports.wlc import import_edition
from tasks.judges.questions.registry import QUESTIONS, forms_sha
from tasks.judges.registry import load_judge
from tasks.judging.cells import plan_cells
from tasks.judging.inputs import USAGE_TEXT
from tasks.models.exchange import Message, ModelRequest, Parameters, Purpose
from tasks.protocols.case import ReportUsage
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.warehouse.rubrics import BundleSettings, Rubric, make_rubric_bundle
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.truths import TruthClaim, TruthSettings, make_ground_truth
from tests.sample_edition import PART

WRITE = "python -m tests.ids > tests/ids.json"
SHOWN = 16
SAMPLE = PART
JUDGES = ("offline", "gemini-3.8-flash", "gpt-5.5")


def current() -> dict[str, dict[str, str]]:
    """By group and name, the first digits of what is hashed now."""
    folders = sorted(path.name for path in (PACKAGED / "prompts").iterdir())
    return {
        "protocol version": {name: get_protocol(name).version for name in sorted(PROTOCOLS)},
        "rubric version": {
            path.stem: get_protocol(path.stem).version
            for path in sorted((PACKAGED / "rubrics").glob("*.yaml"))
        },
        "forms of answers": {name: forms_sha(name)[:SHOWN] for name in sorted(QUESTIONS)},
        "prompts of a judge": {
            f"{name} {folder}": load_judge(name).prompt_sha(folder)[:SHOWN]
            for name in sorted(load_judges().judges)
            for folder in (folders if name != "offline" else ["wiki_fact"])
        },
        "model version": {
            name: load_judge(name).model_version for name in sorted(load_judges().judges)
        },
        "settings": {"inversion": load_inversion().sha[:SHOWN]},
        "rows": {
            "ground truth": _truth_sha()[:SHOWN],
            "rubric bundle": _bundle_sha()[:SHOWN],
            "usage": _usage_text(),
        },
        "requests": {"all that is sent": _request().request_id[:SHOWN]},
        "cells of the sample": _cells(),
    }


def _cells() -> dict[str, str]:
    with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "w.duckdb") as warehouse:
        import_edition(warehouse, SAMPLE, "sample")
        return {
            f"{plan.protocol} {plan.judge} {plan.agent} {plan.assignment}": plan.cell_id[:SHOWN]
            for name in sorted(PROTOCOLS)
            for by in JUDGES
            for plan in plan_cells(warehouse, "sample", get_protocol(name), load_judge(by))
        }


def _truth_sha() -> str:
    part = TruthClaim(value="a part", name="part", sentence="It is a part.")
    truth = TruthClaim(
        value="all", also=("everything",), sub_claims=(part,), sources=("example.org/a",)
    )
    settings = TruthSettings(question="Which?", banned=("example.org",))
    return make_ground_truth(
        "e", "a", "novel-datasets-identification", "inverted", [truth], settings
    ).truth_sha


def _bundle_sha() -> str:
    rubric = Rubric(
        edition="e", assignment="a", protocol="p", item="i", number=1, text="It says so.",
        dimension="d", allowed='["1", "0"]', points=1, explanation="Look twice.",
    )  # fmt: skip
    return make_rubric_bundle([rubric], BundleSettings(theme="t"), "drafted").bundle_sha


def _usage_text() -> str:
    columns = ", ".join(f"{n} AS {name}" for n, name in enumerate(ReportUsage.model_fields, 1))
    with duckdb.connect() as connection:
        row = connection.execute(f"SELECT {USAGE_TEXT} FROM (SELECT {columns}) AS u").fetchone()
    assert row is not None
    return str(row[0])


def _request() -> ModelRequest:
    parameters = Parameters(
        temperature=0.5, top_p=0.9, seed=7, max_output_tokens=100, thinking_budget=10,
        thinking_level="low",
    )  # fmt: skip
    return ModelRequest(
        provider="p",
        model="m",
        parameters=parameters,
        reply_name="step",
        reply_schema="{}",
        system="System",
        messages=(Message(role="user", text="Question"), Message(role="model", text="Answer")),
        purpose=Purpose(judge="j", protocol="p", step="s", prompt_sha="0"),
    )


if __name__ == "__main__":
    json.dump(current(), sys.stdout, indent=1, sort_keys=True)
    print()
