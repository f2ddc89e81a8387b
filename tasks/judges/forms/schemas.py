"""JSON Schemas of the reply forms, as they are sent to models."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tasks.judges.forms.form import ReplyModel
from tasks.warehouse.rows import canonical_json


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
