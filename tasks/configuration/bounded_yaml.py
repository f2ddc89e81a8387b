"""YAML that anyone may have written: measured before anything is built from it.

A few lines of it can stand for gigabytes (aliases of aliases), or end the process (deep nesting
overflows the compiled loader's stack), and of two equal keys the first is silently dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tasks.configuration.errors import ConfigurationError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Compiled where there is one: the judges alone take 100 ms otherwise, at every run's start."""
DEEPEST = 50
LARGEST = 4_000_000
"""Characters with every alias written out, a value counted as EACH more."""
EACH = 40
LONGEST_NUMBER = 40
_TAG = "tag:yaml.org,2002:"


@dataclass
class _Part:
    """A value of the file, its aliases written out."""

    anchor: str | None = None
    depth: int = 0
    size: int = EACH

    def add(self, part: "_Part") -> None:
        self.depth = max(self.depth, part.depth + 1)
        self.size += part.size


class _Loader(LOADER):  # type: ignore[misc, valid-type]
    """Refuses a key that is given twice, and says where a number or date cannot be read."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.checked: set[yaml.MappingNode] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # Once: what is merged into a mapping may have keys that it overrides.
        if node not in self.checked:
            self.checked.add(node)
            self._check_keys(node)
        super().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key, _ in node.value:
            # `<<` and `=` stand for something else than themselves.
            if not isinstance(key, yaml.ScalarNode) or key.tag in (f"{_TAG}merge", f"{_TAG}value"):
                continue
            said = self.construct_object(key)
            if said in seen:
                raise _wrong(f"the key {str(said)[:80]!r} is given twice", key.start_mark)
            seen.add(said)


def _number(loader: _Loader, node: yaml.ScalarNode) -> Any:
    try:
        if len(node.value) > LONGEST_NUMBER:
            raise ValueError("too long")
        return LOADER.yaml_constructors[node.tag](loader, node)
    except (ValueError, OverflowError):
        said = f"{node.value[:LONGEST_NUMBER]!r} cannot be read as a number or date"
        raise _wrong(f"{said}; put a text into quotes", node.start_mark) from None


for _kind in ("int", "float", "timestamp"):
    _Loader.add_constructor(f"{_TAG}{_kind}", _number)


def load_yaml(path: Path, text: str) -> Any:
    """What `text`, the content of `path`, says.

    Raises:
        ConfigurationError: naming the file, the line and what to do: it is no YAML, nested too
            deeply, too large with its aliases written out, or has a tag or a key twice.
    """
    try:
        _measure(text)
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        said = f"{error.problem or error.context}"[:400]
        raise ConfigurationError(f"{path}: not valid YAML: {where}{said}.") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not valid YAML: {error}") from None


def _measure(text: str) -> None:
    """Raise a YAMLError for what would be too deep or too large; nothing is built."""
    held, closed = [_Part()], dict[str, _Part]()
    for event in yaml.parse(text, LOADER):
        if tag := getattr(event, "tag", None):
            raise _wrong(f"the tag {tag[:80]} is not for these files; remove it", event.start_mark)
        for part in _part(event, held, closed):
            held[-1].add(part)
            if len(held) - 1 + part.depth > DEEPEST:
                raise _wrong(f"nested more than {DEEPEST} deep; flatten it", event.start_mark)
            if held[-1].size > LARGEST:
                raise _wrong(
                    "too large with its aliases written out; use fewer of them", event.start_mark
                )


def _part(event: Any, held: list[_Part], closed: dict[str, _Part]) -> Iterator[_Part]:
    """The value that ends with this event, if one does."""
    if isinstance(event, yaml.CollectionStartEvent):
        held.append(_Part(event.anchor))
        if len(held) - 1 > DEEPEST:
            raise _wrong(f"nested more than {DEEPEST} deep; flatten it", event.start_mark)
    elif isinstance(event, yaml.AliasEvent):
        if event.anchor not in closed:
            said = f"the alias *{event.anchor:.80} stands for nothing, or for what holds it"
            raise _wrong(said, event.start_mark)
        yield closed[event.anchor]
    elif isinstance(event, yaml.ScalarEvent):
        yield _closed(_Part(event.anchor, size=EACH + len(event.value)), closed)
    elif isinstance(event, yaml.CollectionEndEvent):
        yield _closed(held.pop(), closed)


def _closed(part: _Part, closed: dict[str, _Part]) -> _Part:
    if part.anchor:
        closed[part.anchor] = part
    return part


def _wrong(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)
