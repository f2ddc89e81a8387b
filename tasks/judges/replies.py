"""Reply forms of models: their base classes, their schemas as they are sent, and strict parsing.

Whatever the endpoint promises, a wrong word, a missing item or one too many makes the whole answer
unusable. Models write keys in the schema's alphabetical order, so forms name evidence, passage and
reason such that they come before the verdict.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from tasks.judges.text import collapse_whitespace
from tasks.models.embedded_json import find_only_object
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import canonical_json

MAX_CHARS = 2_000
"""Longer texts are no name, value or question: they are cut, and then fail the checks."""
MAX_ITEMS = 50
"""Items of a list in an answer; further ones are ignored."""
MAX_PROBLEM_CHARS = 200


class ReplyModel(BaseModel):
    """A part of a reply. Extra keys are ignored, but the schema does not allow them."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )


ReplyT = TypeVar("ReplyT", bound=ReplyModel)
ResultT = TypeVar("ResultT", bound=ReplyModel)
ItemT = TypeVar("ItemT")


class ItemResults(ReplyModel, Generic[ResultT]):
    """A reply with a result for each item that was asked for."""

    results: list[ResultT]


def clean_line(text: str) -> str:
    """Return a model's text on one line, cut to MAX_CHARS."""
    return collapse_whitespace(text)[:MAX_CHARS]


def _clean_lines(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the cleaned lines without empty and duplicate ones."""
    lines = (clean_line(text) for text in texts[:MAX_ITEMS])
    return tuple(dict.fromkeys(line for line in lines if line))


Line = Annotated[str, AfterValidator(clean_line)]
Lines = Annotated[tuple[str, ...], AfterValidator(_clean_lines)]
Limited = Annotated[tuple[ItemT, ...], AfterValidator(lambda items: items[:MAX_ITEMS])]


@lru_cache
def render_schema(model: type[ReplyModel]) -> str:
    """Return a form's JSON Schema as canonical JSON, free of Python names.

    Pydantic's titles are removed and `$defs` are inlined: they contain class names, and renaming a
    class would change the id of every request.
    """
    schema = model.model_json_schema()
    return canonical_json(_inline_refs(schema, schema.get("$defs", {})))


@lru_cache(maxsize=512)
def render_item_schema(model: type[ReplyModel], key: str, expected: tuple[Any, ...]) -> str:
    """Return the schema that allows exactly one result per expected item.

    For endpoints that enforce the schema by a grammar: weak models then cannot answer for unknown
    items.
    """
    schema = json.loads(render_schema(model))
    results = schema["properties"]["results"]
    results |= {"minItems": len(expected), "maxItems": len(expected)}
    results["items"]["properties"][key]["enum"] = list(expected)
    return canonical_json(schema)


def restrict_values(schema: str, allowed_values: Mapping[str, tuple[str, ...]]) -> str:
    """Return the schema that allows only these values, by field of a result."""
    changed = json.loads(schema)
    fields = changed["properties"]["results"]["items"]["properties"]
    for field, values in allowed_values.items():
        fields[field]["enum"] = list(values)
    return canonical_json(changed)


def _inline_refs(schema: Any, parts: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline_refs(value, parts) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline_refs(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {
        name: _inline_refs(value, parts)
        for name, value in schema.items()
        if not (name in ("title", "description") and isinstance(value, str)) and name != "$defs"
    }


def parse_reply(model: type[ReplyT], answer: str) -> ReplyT:
    """Parse the only JSON object of an answer, whatever stands around it.

    Raises:
        InvalidReply: no JSON object, more than one, or one of another form; the message says where.
    """
    try:
        return model.model_validate_json(find_only_object(answer))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the answer"
        raise InvalidReply(f"{where}: {problem['msg']}"[:MAX_PROBLEM_CHARS]) from None
    except ValueError as error:
        raise InvalidReply(f"the answer: {error}") from None


def order_results(
    results: Sequence[ReplyT], key: str, expected: Sequence[int] | Sequence[str]
) -> list[ReplyT]:
    """Return the results in the order of the expected items.

    Raises:
        InvalidReply: an item is missing, duplicate or unknown.
    """
    keys = [getattr(result, key) for result in results]
    missing = [item for item in expected if item not in keys]
    twice = sorted({str(item) for item in keys if keys.count(item) > 1})
    unknown = [item for item in keys if item not in expected]
    problems = [
        f"{what}: {_join_items(items)}"
        for what, items in (("missing", missing), ("twice", twice), ("never asked for", unknown))
        if items
    ]
    if problems:
        raise InvalidReply(f"{key} {'; '.join(problems)} (asked for {len(expected)})")
    found = dict(zip(keys, results, strict=True))
    return [found[item] for item in expected]


def _join_items(items: Collection[object]) -> str:
    shown = [str(item)[:40] for item in items][:5]
    return ", ".join(shown) + (" …" if len(items) > len(shown) else "")
