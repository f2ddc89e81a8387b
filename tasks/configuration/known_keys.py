"""The keys that a model allows at a place of its content, to name them beside an unknown one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

Schema = Mapping[str, Any]
"""A part of a JSON schema."""


def find_known_keys(model: type[BaseModel], location: Sequence[int | str]) -> set[str]:
    """Return the keys that may stand in place of the last one of a pydantic error's location, in
    which a union's tags (here the `kind` of an entry) count as parts."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    places = [*_resolve(schema, definitions)]
    for part in location[:-1]:
        children = [
            place
            for parent in places
            if (child := _find_child(parent, part)) is not None
            for place in _resolve(child, definitions)
        ]
        tagged = [p for p in places if _get_properties(p).get("kind", {}).get("const") == part]
        places = tagged or children or places
    return {key for place in places for key in _get_properties(place)}


def _resolve(part: Schema, definitions: Schema) -> Iterator[Schema]:
    """Yield the part, or each model that it may be."""
    if "$ref" in part:
        yield from _resolve(definitions[part["$ref"].rpartition("/")[2]], definitions)
    elif options := part.get("anyOf") or part.get("oneOf"):
        for option in options:
            yield from _resolve(option, definitions)
    else:
        yield part


def _find_child(parent: Schema, part: int | str) -> Schema | None:
    child = parent.get("items") if isinstance(part, int) else _get_properties(parent).get(str(part))
    entries = parent.get("additionalProperties")
    return child or (entries if isinstance(entries, Mapping) else None)


def _get_properties(place: Schema) -> Schema:
    found: Schema = place.get("properties", {})
    return found
