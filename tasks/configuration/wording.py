"""Wording of pydantic's errors for people who know YAML and JSON but not Python."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tasks.base import format_count
from tasks.configuration.extensions import EXTENSION

Schema = Mapping[str, Any]
"""A part of a JSON schema."""
VARIABLE = "^[A-Z][A-Z0-9_]*$"
"""The name of an environment variable. What somebody writes in its place may be a secret."""
FORMS = {
    VARIABLE: "the name of an environment variable: capitals, digits and _",
    "\\S": "some words",
    "^[A-Za-z0-9_.:-]{1,80}$": "letters (a to z), digits and _ . : -, 80 at most",
    "^[a-z][a-z0-9_]{0,39}$": "small letters, digits and _, 40 at most, a letter first",
}
"""Descriptions of our models' patterns; other patterns are shown as they are."""
TYPES = {
    "missing": "it is missing",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "dict_type": "expected a mapping of keys",
    "model_type": "expected a mapping of keys",
    "string_type": "expected a text (put it in quotes)",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
}


def describe_expected(problem: ErrorDetails) -> str:
    """Describe what was expected."""
    kind, bounds = problem["type"], problem.get("ctx", {})
    if kind in TYPES:
        return TYPES[kind]
    if kind == "string_pattern_mismatch":
        pattern = bounds["pattern"]
        return f"expected {FORMS.get(pattern, f'the form {pattern}')}"
    if kind == "string_too_short":
        return f"expected a text of at least {format_count(bounds['min_length'], 'character')}"
    if kind == "string_too_long":
        return f"expected a text of at most {format_count(bounds['max_length'], 'character')}"
    if kind == "too_short":
        return f"expected a list of at least {bounds['min_length']:,}"
    if kind == "too_long":
        return f"expected a list of at most {bounds['max_length']:,}"
    return problem["msg"].removeprefix("Value error, ")


def format_location(problem: ErrorDetails, content: object, within: str = "") -> str:
    """Format the key, with the id of its parent: `items.2.check` (id 'clear').

    within: the key whose value the content is.
    """
    ids: list[str] = []
    keys: list[str] = []
    at: Any = content
    tagged = False  # one tag at a place: a key may have the tag's name
    for part in problem["loc"]:
        # pydantic names the model of an entry here, which is not in the file
        is_tag = isinstance(at, Mapping) and part in (at.get("kind"), EXTENSION)
        tagged = is_tag and not tagged
        if tagged:
            continue
        keys.append(str(part)[:80])
        at = _get_child(at, part)
        if isinstance(at, Mapping) and isinstance(at.get("id"), str) and isinstance(part, int):
            ids.append(f"id {at['id'][:80]!r}")
    parts = [within] if within else []
    key = ".".join([*parts, *keys]) or "(top)"
    return f"`{key}`" + (f" ({', '.join(ids)})" if ids else "")


def _get_child(value: Any, part: int | str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, Sequence) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


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
