"""The page of configurations, made from the models that load them and their docstrings."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from tasks.agents.registry import Agents
from tasks.configuration.criteria import WeightedCriteria, WordsToWatch
from tasks.configuration.endings import Endings
from tasks.configuration.inversion import DraftingSettings, InversionSettings
from tasks.configuration.leaderboard import LeaderboardSettings
from tasks.configuration.models import Judges, ProtocolEntry
from tasks.configuration.rubrics import RubricEntry
from tasks.configuration.sandbox import SandboxSettings
from tasks.configuration.web import WebSettings
from tasks.configuration.wikipedia import Topics, WikipediaSettings
from tasks.editions.refresh import RefreshSettings
from tasks.models.prices import PriceList
from tasks.protocols.claim_discovery.protocol import ClaimDiscoveryParameters
from tasks.protocols.race import RaceParameters
from tasks.protocols.research_gym.protocol import ResearchGymParameters
from tasks.protocols.rigorous.parameters import RigorousParameters
from tasks.protocols.rubric_bench import RubricBenchParameters
from tasks.protocols.wiki_fact.protocol import WikiFactParameters
from tasks.protocols.wiki_writing import WikiWritingParameters
from tests.docs.markdown import render_table

INTRODUCTION = """# Configuration files

`evergreen init FOLDER` makes a `configs/` folder to edit. Evergreen looks for each file in the
folders that `EVERGREEN_CONFIGS` names (separated by `:`), then in `configs/` of the working
folder, then among the files that come with it. Entries merge by name: yours replace or add to
those that come with Evergreen, and an entry set to `null` is removed. Prices merge by model. A
prompt or another text file replaces the whole file of the same name. Unknown keys are errors that
name the file and the key.
"""
FILES: Mapping[str, type[BaseModel]] = {
    "agents.yaml": Agents,
    "judges.yaml": Judges,
    "prices.yaml": PriceList,
    "endings.yaml": Endings,
    "refresh.yaml": RefreshSettings,
    "wikipedia.yaml": WikipediaSettings,
    "good_article_topics.yaml": Topics,
    "web.yaml": WebSettings,
    "sandbox.yaml": SandboxSettings,
    "leaderboard.yaml": LeaderboardSettings,
    "inversion.yaml": InversionSettings,
    "drafting.yaml": DraftingSettings,
    "protocols/NAME.yaml": ProtocolEntry,
    "rubrics/NAME.yaml": RubricEntry,
    "criteria/race.yaml": WeightedCriteria,
    "style/words_to_watch.yaml": WordsToWatch,
}
"""Each file in `configs/`, and the model of its keys."""
PARAMETERS: Mapping[str, type[BaseModel]] = {
    "claim_discovery": ClaimDiscoveryParameters,
    "race": RaceParameters,
    "research_gym": ResearchGymParameters,
    "rigorous": RigorousParameters,
    "rubric_bench": RubricBenchParameters,
    "wiki_fact": WikiFactParameters,
    "wiki_writing": WikiWritingParameters,
}
"""The parameters of each protocol that has some."""
PLAIN = {
    str: "text", int: "whole number", float: "number", bool: "`true` or `false`", Path: "path",
    Any: "anything", NoneType: "null",
}  # fmt: skip


def render_page() -> str:
    """The page, as Markdown."""
    parts = [INTRODUCTION]
    shown: set[type[BaseModel]] = set()
    for name, model in FILES.items():
        parts.append(f"## {name}\n")
        parts += _describe(model, shown)
    parts.append("## Parameters of protocols\n\nThe key `parameters` of `protocols/NAME.yaml`.\n")
    for name, model in PARAMETERS.items():
        parts.append(f"### {name}\n")
        parts += _describe(model, shown)
    return "\n".join(parts)


def _describe(model: type[BaseModel], shown: set[type[BaseModel]]) -> Iterator[str]:
    """A model's keys, then the models in it that are not shown yet."""
    shown.add(model)
    if model.__doc__ and model.__doc__ != BaseModel.__doc__:
        yield f"{_join(model.__doc__)}\n"
    texts = read_field_texts(model)
    own = [name for name in model.model_fields if name in model.__annotations__]
    rows = ((name, model.model_fields[name], texts.get(name, "")) for name in own)
    yield render_table(
        ("Key", "Value", "Default", "Meaning"),
        ((f"`{name}`", _name_kind(f.annotation), _default(f), text) for name, f, text in rows),
    )
    bases = [base for base in model.__bases__ if getattr(base, "model_fields", None)]
    if bases:
        yield f"It also has the keys of {' and '.join(map(_name_kind, bases))}.\n"
    inner = [each for name in own for each in _find_models(model.model_fields[name].annotation)]
    for each in [*bases, *inner]:
        if each not in shown:
            yield f"### {_name_model(each)} {{#{each.__name__.lower()}}}\n"
            yield from _describe(each, shown)


def _name_model(model: type[BaseModel]) -> str:
    """A model of one kind is named as a file names it."""
    kind = model.model_fields.get("kind")
    values = get_args(kind.annotation) if kind else ()
    return f"kind: {' or '.join(values)}" if values else model.__name__


def list_models(model: type[BaseModel]) -> set[type[BaseModel]]:
    """A model, those that it inherits keys from, and those in its keys."""
    found: set[type[BaseModel]] = set()
    "".join(_describe(model, found))
    return found


def read_field_texts(model: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field, also of those that a model inherits."""
    texts: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if not issubclass(owner, BaseModel) or owner is BaseModel:
            continue
        body = ast.parse(dedent(inspect.getsource(owner))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, below in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                assert isinstance(field.target, ast.Name)
                assert isinstance(below.value, ast.Constant)
                texts[field.target.id] = _join(str(below.value.value))
    return texts


def _find_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _find_models(part)


def _name_kind(annotation: Any) -> str:
    """What a key's value is, in words; a model is named as its section."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name_kind(parts[0])
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_name_kind(part) for part in parts))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(f"`{part}`" for part in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{_name_model(annotation)}](#{annotation.__name__.lower()})"
    if origin is not None and issubclass(origin, Mapping):
        return f"mapping of names to {_name_kind(parts[1])}"
    if origin is not None:
        return f"list of {_name_kind(parts[0])}"
    return PLAIN.get(annotation) or str(getattr(annotation, "__name__", annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value in (None, PydanticUndefined):
        return ""
    return "see its section" if isinstance(value, BaseModel) else f"`{_yaml(value)}`"


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _join(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")
