"""`import evergreen` is quick, says when it meets somebody else's modules, and is typed."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import evergreen
from tasks.errors import ExpectedError
from tasks.imports.wlc import import_edition
from tasks.warehouse.store import open_warehouse
from tests.sample_edition import PART

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", sorted(evergreen.__all__))
def test_every_name_that_it_offers_is_there(name: str) -> None:
    assert getattr(evergreen, name).__name__ == name


def test_it_offers_the_same_names_to_people_and_to_type_checkers() -> None:
    tree = ast.parse((ROOT / "evergreen" / "__init__.py").read_text("utf-8"))
    [typed] = [node for node in tree.body if isinstance(node, ast.If)]
    imported = [alias.name for node in ast.walk(typed) if isinstance(node, ast.ImportFrom)
                for alias in node.names]  # fmt: skip
    assert sorted(imported) == sorted(evergreen.__all__) == sorted(evergreen._NAMES)
    assert {*evergreen.__all__} <= {*dir(evergreen)}


def test_a_name_that_it_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'evergreen' has no attribute 'leaderbord'"):
        _ = evergreen.leaderbord


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"edition": "sampel"}, "There is no edition 'sampel'. Did you mean sample?"),
        ({"agents": ["sample_scolar"]}, "Did you mean sample_scholar?"),
        ({"protocols": ["wiki_fac"]}, "Did you mean wiki_fact?"),
        ({"judge": "offlin"}, "Did you mean offline?"),
    ],
)
def test_an_unknown_name_is_refused_before_a_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr("evergreen.evaluation._run", lambda *_: pytest.fail("a flow was run"))
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        import_edition(warehouse, PART, "sample")
    with pytest.raises(ExpectedError, match=re.escape(message)):
        evergreen.evaluate(**{"edition": "sample", "warehouse": str(tmp_path / "w.duckdb")} | given)
