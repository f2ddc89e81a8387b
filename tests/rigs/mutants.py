"""Change the product in small ways, one at a time, and see whether the tests notice.

Run it before and after a change of the tests, or of the structure, to see what they no longer
catch. Each step works on a worktree that it may edit, and writes next to the list:

    python -m tests.rigs.mutants choose --tree . --later ../changed --list mutants.json
    python -m tests.rigs.mutants probe --tree ../probed --list mutants.json
    (cd ../probed && EVERGREEN_PROBES=$PWD/before.hits make test)
    python -m tests.rigs.mutants run --tree ../changed --list mutants.json --hits before.hits \\
        --results before.csv
    python -m tests.rigs.mutants compare --before before.csv --after after.csv

`probe` has each chosen function write which test called it, also from processes that a test
starts, to the file that EVERGREEN_PROBES names. `run` gives each mutant to the ten tests that call
the fewest other chosen functions; a test that takes too long has caught it.
"""

import argparse
import ast
import csv
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

PACKAGES = ("evergreen", "flows", "tasks")
MOST_TESTS, SECONDS = 10, 300
OPPOSITES = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.Mult,
}  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef
Mutant = dict[str, Any]
"""`file`, `function` (its qualified name), `change` (which of its nodes) and `body`, as AST."""
PROBE = (
    "__import__('tasks.mutants_probe', fromlist=['hit']).hit({number}) "
    "if __import__('os').environ.get('EVERGREEN_PROBES') else None"
)


def functions(tree: Path) -> Iterator[tuple[str, str, Function]]:
    """The file, qualified name and node of every function of the product."""
    for package in PACKAGES:
        for file in sorted((tree / package).rglob("*.py")):
            pending: list[tuple[str, ast.AST]] = [("", ast.parse(file.read_text("utf-8")))]
            while pending:
                prefix, parent = pending.pop(0)
                for node in ast.iter_child_nodes(parent):
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                        pending.append((f"{prefix}{node.name}.", node))
                        if not isinstance(node, ast.ClassDef):
                            yield str(file.relative_to(tree)), prefix + node.name, node


def changes(function: Function) -> list[tuple[ast.AST, str]]:
    """The nodes of a body that can be replaced, each with the source that replaces it."""
    found: list[tuple[ast.AST, str]] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, Function | ast.ClassDef | ast.JoinedStr | ast.AnnAssign):
            continue  # functions have a turn of their own; Python 3.11 misplaces parts of f-strings
        pending = [*ast.iter_child_nodes(node), *pending]
        if source := _changed(node):
            found.append((node, source))
    return found


def _changed(node: ast.AST) -> str | None:
    match node:
        case ast.Compare(left, [operator], right) if type(operator) in OPPOSITES:
            return _source(ast.Compare(left, [OPPOSITES[type(operator)]()], right))  # type: ignore[list-item]
        case ast.BoolOp(operator, values):
            return _source(ast.BoolOp(OPPOSITES[type(operator)](), values))  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not(), operand):
            return _source(operand)
        case ast.BinOp(left, operator, right) if type(operator) in OPPOSITES:
            return _source(ast.BinOp(left, OPPOSITES[type(operator)](), right))  # type: ignore[arg-type]
        case ast.Constant(bool() as value):
            return str(not value)
        case ast.Constant(int() | float() as value):
            return str(value + 1)
        case ast.Return(ast.AST() as value) if not isinstance(value, ast.Constant):
            return "return None"
        case ast.Expr(ast.Call() | ast.Await()):
            return "None"
    return None


def _source(expression: ast.expr) -> str:
    return f"({ast.unparse(expression)})"


def _body(function: Function) -> str:
    return ast.dump(ast.Module(function.body, []))


def choose(tree: Path, count: int, seed: int, later: Path) -> list[Mutant]:
    """A seeded sample of the functions that a later tree has, too, and one change of each."""
    chance = random.Random(seed)
    kept = set(_places(later))
    possible = [item for item in functions(tree) if changes(item[2]) and _key(*item[1:]) in kept]
    return [
        {"file": file, "function": name, "change": chance.randrange(len(changes(node))),
         "body": _body(node)}
        for file, name, node in sorted(chance.sample(possible, count), key=lambda item: item[:2])
    ]  # fmt: skip


def _key(name: str, function: Function) -> tuple[str, str]:
    return name.rpartition(".")[2], _body(function)


def _places(tree: Path) -> dict[tuple[str, str], Mutant]:
    return {_key(name, node): {"file": file, "function": name}
            for file, name, node in functions(tree)}  # fmt: skip


def locate(tree: Path, mutants: list[Mutant]) -> dict[int, Mutant]:
    """The mutants of a later tree by number, wherever their functions lie now; without those whose
    function is gone or says something else."""
    there = _places(tree)
    keys = [(mutant["function"].rpartition(".")[2], mutant["body"]) for mutant in mutants]
    return {number: mutants[number] | there[key] for number, key in enumerate(keys) if key in there}


Change = Callable[[Function], tuple[Any, str]]


def edit(tree: Path, mutant: Mutant, change: Change) -> str:
    """Replace one node of the mutant's function; return what the file was before."""
    path = tree / str(mutant["file"])
    before = path.read_text("utf-8")
    (function,) = (node for file, name, node in functions(tree)
                   if (file, name) == (mutant["file"], mutant["function"]))  # fmt: skip
    node, source = change(function)
    lines = before.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    text = before.encode()
    path.write_bytes(text[:start] + source.encode() + text[end:])
    return before


def probe(tree: Path, mutants: dict[int, Mutant]) -> None:
    """Have every chosen function say which test called it."""

    def probed(number: int) -> Change:
        def change(function: Function) -> tuple[ast.AST, str]:
            first = function.body[0]
            source = (tree / mutants[number]["file"]).read_text("utf-8")
            kept, line = ast.get_source_segment(source, first), PROBE.format(number=number)
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            parts = [kept, line] if documented else [line, kept]
            return first, ("\n" + " " * first.col_offset).join(map(str, parts))

        return change

    shutil.copyfile(Path(__file__).with_name("mutants_probe.py"), tree / "tasks/mutants_probe.py")
    for number, mutant in mutants.items():
        edit(tree, mutant, probed(number))


def run(tree: Path, mutants: dict[int, Mutant], hits: Path, results: Path) -> None:
    """Give each mutant to its tests, without those that fail anyhow; what is in `results` already
    is not run again. Several may run at a time, each on a tree of its own."""
    tests: dict[int, set[str]] = defaultdict(set)
    for line in hits.read_text("utf-8").splitlines():
        name, test = line.split("\t")
        tests[int(name)].add(test)
    reach = Counter(test for covering in tests.values() for test in covering)
    done = {int(row["mutant"]) for row in read(results)} if results.exists() else set()
    chosen = {
        number: sorted(tests[number], key=lambda test: (reach[test], test))[:MOST_TESTS]
        for number in mutants.keys() - done
    }
    passing = find_passing(tree, {test for covering in chosen.values() for test in covering})
    for number in sorted(chosen):
        mutant, covering = mutants[number], [test for test in chosen[number] if test in passing]
        outcome = "caught" if covering and is_caught(tree, mutant, covering) else "missed"
        row = [number, f"{mutant['file']}::{mutant['function']}", len(covering), outcome]
        with results.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerow(row)
        print(*row, flush=True)


def find_passing(tree: Path, tests: Collection[str]) -> set[str]:
    """Run tests on the product as it is; return those that pass."""
    said = start_pytest(tree, ["-n", "2", "-rA", *sorted(tests)], timeout=None).stdout
    return {line.removeprefix("PASSED ") for line in said.splitlines()} & set(tests)


def is_caught(tree: Path, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Whether one of the tests fails, or takes too long, while the product is changed so."""
    before = edit(tree, mutant, lambda function: changes(function)[mutant["change"]])
    try:
        return bool(start_pytest(tree, ["-x", *tests], timeout=SECONDS).returncode)
    except subprocess.TimeoutExpired:
        return True
    finally:
        (tree / mutant["file"]).write_text(before, "utf-8")


def start_pytest(
    tree: Path, arguments: Sequence[str], timeout: int | None
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "EVERGREEN_PROBES"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        cwd=tree, env=environment, timeout=timeout, capture_output=True, text=True, check=False,
    )  # fmt: skip


def read(results: Path) -> list[dict[str, str]]:
    with results.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, fieldnames=["mutant", "function", "tests", "outcome"]))


def compare(before: Path, after: Path) -> bool:
    """Print the table and what is no longer caught; whether that is at most 2 %."""
    first, then = ({row["mutant"]: row for row in read(file)} for file in (before, after))
    for name, rows in (("before", first), ("after", then)):
        outcomes = [row["outcome"] for row in rows.values()]
        counts = ", ".join(f"{o} {outcomes.count(o)}" for o in sorted(set(outcomes)))
        print(f"{name}: {len(rows)} mutants; {counts}")
    both = [number for number in first if number in then]
    lost = [number for number in both
            if first[number]["outcome"] == "caught" != then[number]["outcome"]]  # fmt: skip
    print(f"caught before and missed after: {len(lost)} of {len(both)}")
    for number in lost:
        print(f"  {number}: {then[number]['function']} ({then[number]['outcome']})")
    return len(lost) <= 0.02 * len(both)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("step", choices=["choose", "probe", "run", "compare"])
    for option in ("tree", "later", "list", "hits", "results", "before", "after"):
        parser.add_argument(f"--{option}", type=Path)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=48)
    parser.add_argument("--numbers", default="0:", help="a part of the list, as a slice of Python")
    asked = parser.parse_args()
    if asked.step == "compare":
        return 0 if compare(asked.before, asked.after) else 1
    if asked.step == "choose":
        found = choose(asked.tree, asked.count, asked.seed, asked.later or asked.tree)
        asked.list.write_text(json.dumps(found, indent=1))
        return 0
    listed: list[Mutant] = json.loads(asked.list.read_text("utf-8"))
    first, last = asked.numbers.split(":")
    chosen = range(len(listed))[int(first) : int(last) if last else None]
    mutants = {n: mutant for n, mutant in locate(asked.tree, listed).items() if n in chosen}
    if asked.step == "probe":
        probe(asked.tree, mutants)
    else:
        run(asked.tree, mutants, asked.hits, asked.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
