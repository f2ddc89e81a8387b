"""A YAML loader for untrusted files, which checks their size before building anything.

Otherwise a few lines could expand to gigabytes (aliases of aliases), deep nesting could crash the
process (it overflows the compiled loader's stack), and duplicate keys would be dropped silently.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tasks.configuration.errors import ConfigurationError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The compiled loader if available: without it `judges.yaml` alone takes 100 ms."""
MAX_DEPTH = 50
MAX_SIZE = 4_000_000
"""The most characters with all aliases expanded, counting each value as NODE_SIZE more."""
NODE_SIZE = 40
MAX_NUMBER_LENGTH = 40
_TAG = "tag:yaml.org,2002:"


@dataclass
class _YamlNode:
    """The size and depth of a value, with its aliases expanded."""

    anchor: str | None = None
    depth: int = 0
    size: int = NODE_SIZE

    def add(self, part: "_YamlNode") -> None:
        self.depth = max(self.depth, part.depth + 1)
        self.size += part.size


class _Loader(LOADER):  # type: ignore[misc, valid-type]
    """Refuses duplicate keys, and reports the position of unreadable numbers and dates."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.checked: set[yaml.MappingNode] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # Only once: a mapping may override keys that are merged into it.
        if node not in self.checked:
            self.checked.add(node)
            self._check_keys(node)
        super().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key, _ in node.value:
            # `<<` and `=` are not keys.
            if not isinstance(key, yaml.ScalarNode) or key.tag in (f"{_TAG}merge", f"{_TAG}value"):
                continue
            name = self.construct_object(key)
            if name in seen:
                raise _yaml_error(f"the key {str(name)[:80]!r} is given twice", key.start_mark)
            seen.add(name)


def _construct_scalar(loader: _Loader, node: yaml.ScalarNode) -> Any:
    try:
        if len(node.value) > MAX_NUMBER_LENGTH:
            raise ValueError("too long")
        return LOADER.yaml_constructors[node.tag](loader, node)
    except (ValueError, OverflowError):
        problem = f"{node.value[:MAX_NUMBER_LENGTH]!r} cannot be read as a number or date"
        raise _yaml_error(f"{problem}; put a text into quotes", node.start_mark) from None


for _kind in ("int", "float", "timestamp"):
    _Loader.add_constructor(f"{_TAG}{_kind}", _construct_scalar)


def load_yaml(path: Path, text: str) -> Any:
    """Load `text`, the content of `path`.

    Raises:
        ConfigurationError: invalid YAML, nested too deeply, too large with its aliases expanded,
            or with a tag or duplicate keys. The message names the file, the line and what to do.
    """
    try:
        _check_size(text)
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        problem = f"{error.problem or error.context}"[:400]
        raise ConfigurationError(f"{path}: not valid YAML: {where}{problem}.") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not valid YAML: {error}") from None


def _check_size(text: str) -> None:
    """Raise a YAMLError if the value would be too deep or too large, without building it."""
    held, closed = [_YamlNode()], dict[str, _YamlNode]()
    for event in yaml.parse(text, LOADER):
        if tag := getattr(event, "tag", None):
            raise _yaml_error(f"the tag {tag[:80]} is not allowed; remove it", event.start_mark)
        for part in _finished_nodes(event, held, closed):
            held[-1].add(part)
            if len(held) - 1 + part.depth > MAX_DEPTH:
                raise _yaml_error(
                    f"nested more than {MAX_DEPTH} deep; flatten it", event.start_mark
                )
            if held[-1].size > MAX_SIZE:
                raise _yaml_error(
                    "too large with its aliases expanded; use fewer of them", event.start_mark
                )


def _finished_nodes(
    event: Any, held: list[_YamlNode], closed: dict[str, _YamlNode]
) -> Iterator[_YamlNode]:
    """Yield the value that ends with this event, if any."""
    if isinstance(event, yaml.CollectionStartEvent):
        held.append(_YamlNode(event.anchor))
        if len(held) - 1 > MAX_DEPTH:
            raise _yaml_error(f"nested more than {MAX_DEPTH} deep; flatten it", event.start_mark)
    elif isinstance(event, yaml.AliasEvent):
        if event.anchor not in closed:
            problem = f"the alias *{event.anchor:.80} is undefined, or refers to its own parent"
            raise _yaml_error(problem, event.start_mark)
        yield closed[event.anchor]
    elif isinstance(event, yaml.ScalarEvent):
        yield _close(_YamlNode(event.anchor, size=NODE_SIZE + len(event.value)), closed)
    elif isinstance(event, yaml.CollectionEndEvent):
        yield _close(held.pop(), closed)


def _close(part: _YamlNode, closed: dict[str, _YamlNode]) -> _YamlNode:
    if part.anchor:
        closed[part.anchor] = part
    return part


def _yaml_error(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)
