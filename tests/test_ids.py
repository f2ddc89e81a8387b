"""What was bought stays bought: ids hang on what is asked, not on what Python calls it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, create_model

from tasks.configuration.folders import PACKAGED
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.questions.registry import QUESTIONS, list_forms
from tasks.judges.replies import ReplyModel, render_schema
from tasks.models.exchange import Parameters
from tasks.warehouse.rows import canonical_values
from tests import ids

KNOWN = json.loads(Path(__file__).with_name("ids.json").read_text("utf-8"))
current = cache(ids.current)


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, known in KNOWN.items() for name in known]
)
def test_an_id_is_what_it_was(group: str, name: str) -> None:
    assert current()[group].get(name) == KNOWN[group][name], (
        f"Every verdict that rests on this would be bought again. If that is meant, bump the "
        f"version concerned and run `{ids.WRITE}`."
    )


def test_every_id_is_known() -> None:
    named = {group: sorted(found) for group, found in current().items()}
    assert named == {group: sorted(found) for group, found in KNOWN.items()}, f"run `{ids.WRITE}`"


@pytest.mark.parametrize(
    "form", sorted({form for name in QUESTIONS for form in list_forms(name)}, key=str)
)
def test_a_schema_names_no_class(form: type[ReplyModel]) -> None:
    def named(schema: Any) -> bool:
        if isinstance(schema, list):
            return any(map(named, schema))
        return isinstance(schema, dict) and (
            bool({"$defs", "$ref"} & schema.keys()) or any(map(named, schema.values()))
        )

    assert not named(json.loads(render_schema(form)))


def form_called(name: str) -> type[ReplyModel]:
    part = create_model(name, __base__=ReplyModel, verdict=(str, ...))
    return create_model(f"{name}s", __base__=ReplyModel, results=(list[part], ...))


def test_a_form_may_be_renamed() -> None:
    assert render_schema(form_called("Verdict")) == render_schema(form_called("Decision"))


def test_the_order_of_settings_does_not_count() -> None:
    class Turned(Parameters):
        max_output_tokens: int
        seed: int | None = None
        temperature: float | None = None

    given = {"temperature": 0.5, "seed": 7, "max_output_tokens": 100}
    assert canonical_values(Turned(**given)) == canonical_values(Parameters(**given))
    assert Turned(**given).canonical() == Parameters(**given).canonical()


def test_a_setting_renamed_in_python_alone_keeps_its_id() -> None:
    class Renamed(BaseModel):
        limit: int = Field(serialization_alias="max_output_tokens")

    class Plain(BaseModel):
        max_output_tokens: int

    assert canonical_values(Renamed(limit=100)) == canonical_values(Plain(max_output_tokens=100))


def test_a_note_on_the_offline_weights_makes_no_other_judge(tmp_path: Path) -> None:
    shipped = PACKAGED / "judges" / "offline_lexical.yaml"
    weights = shipped.read_text("utf-8")
    noted, changed = tmp_path / "noted.yaml", tmp_path / "changed.yaml"
    measured = weights.replace("fitted_on: '2026", "fitted_on: '2025").replace("lost: ", "lost: 1")
    noted.write_text("# Looked at again.\n" + measured)
    changed.write_text(weights.replace("passage: ", "passage: 1"))
    version = OfflineJudge(shipped).model_version
    assert OfflineJudge(noted).model_version == version
    assert OfflineJudge(changed).model_version != version
