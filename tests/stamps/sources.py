"""What a file of Python names: the modules it imports, and the texts that may name more."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOADERS = {"__import__", "import_module", "find_spec", "spec_from_file_location", "run_module",
           "run_path", "exec", "eval"}  # fmt: skip
"""What runs code by its name: the name is among the texts, or nobody knows it."""


BARE = {int, str, bytes, float, complex, bool, type(None), type(...), ast.alias, ast.Name, ast.Pass,
        *(kind for of in (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
          for kind in of.__subclasses__())}  # fmt: skip
"""Parts of a tree that have none themselves."""


@dataclass(frozen=True)
class Source:
    """A file of Python, as far as others matter to it."""

    imports: frozenset[str]
    """Modules, and each with what is imported of it: `a.b` and `a.b.name`."""
    texts: frozenset[str]
    """All strings but docstrings. `folder / "a" / "b"` is one, `a/b`; of an f-string, its parts."""
    loads_what_it_does_not_name: bool
    """Whether it runs code of which its own texts do not tell the name."""


def modules(root: Path, *tops: str) -> list[tuple[str, Path]]:
    """Every module below some folders, with its file."""
    found = []
    for top in tops:
        for path in sorted((root / top).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            found.append((name.removesuffix(".__init__"), path))
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that a file imports, wherever in the file the import stands."""
    return source(path.read_bytes(), str(path)).imports


def source(code: bytes, path: str) -> Source:
    imported: set[str] = set()
    texts: set[str] = set()
    unnamed = False
    for node in _nodes(ast.parse(code)):
        if (text := _text(node)) is not None:
            texts.add(text)
        elif isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            imported.add(str(node.module))
            imported.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            unnamed = unnamed or _loads_unnamed(node)
    return Source(frozenset(imported), frozenset(texts), unnamed)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """As ast.walk, but without docstrings and what has no parts, and with paths in one piece."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            waiting += _joined(node)
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "getLogger":
            continue  # the name of a log is no file's
        yield node
        for value in node.__dict__.values():
            if type(value) is list:
                waiting += [each for each in value if type(each) not in BARE]
            elif type(value) not in BARE:
                waiting.append(value)


def _joined(node: ast.expr) -> list[ast.expr]:
    """The parts of `a / "b" / "c"`, neighbouring texts as one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return [node]
    parts = _joined(node.left)
    left, right = _text(parts[-1]), _text(node.right)
    if left is not None and right is not None:
        return [*parts[:-1], ast.Constant(f"{left}/{right}")]
    return [*parts, node.right]


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _loads_unnamed(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in LOADERS or not call.args:
        return False
    first = call.args[0]
    begins = first.values[0] if isinstance(first, ast.JoinedStr) and first.values else first
    return _text(begins) is None
