"""Measure what the offline extractor understands of real reports, family by family.

    python -m tests.rigs.wild FOLDER [--family NAME] [--examples N] [--json FILE] [--before FILE]

FOLDER holds a folder for each family (an agent, a format, a language) with reports as .md, .html,
.docx or .pdf. A reader of its own (markers.py, numbers.py, sources.py) sees which marks cite what;
the table says how many of them the product's claims follow:

led            markers whose address the claim right before them cites
reliable       files with such markers whose pairs the product calls reliable
list entries   explicit claims that are entries of a list of sources
unpaired       addresses behind markers that are in no pair
malformed      addresses in pairs that no program should fetch (blanks, quotes, open brackets)
long           claims over 80 words, or 240 letters of Chinese or Japanese
residue        claims with markup or marks left in them
false          numbers that the product took as markers where a reader sees none

Ends with 2 where there is nothing to read.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from tasks.documents.document import UnreadableDocument
from tasks.extraction.claims import extract_claims
from tests.rigs.wild.documents import SUFFIXES, read_markdown
from tests.rigs.wild.markers import see
from tests.rigs.wild.measures import Example, Figures, Measured, measure
from tests.rigs.wild.numbers import bare_markers
from tests.rigs.wild.table import lines

WIDTH = 300


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m tests.rigs.wild",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("folder", help="a folder with a folder for each family")
    arguments.add_argument("--family", action="append", help="only this one; may be repeated")
    arguments.add_argument("--examples", type=int, default=0, help="failures to print of each kind")
    arguments.add_argument("--json", type=Path, help="where to write the figures")
    arguments.add_argument("--before", type=Path, help="figures of an earlier run to compare with")
    options = arguments.parse_args()
    files = find_files(Path(options.folder), options.family) if options.folder else {}
    if not files:
        wanted = f"{', '.join(options.family)} of " if options.family else ""
        print(
            f"No report ({', '.join(SUFFIXES)}) in {wanted}{options.folder or 'no folder'}: "
            "name a folder that holds a folder of reports for each family.",
            file=sys.stderr,
        )
        return 2
    before = None
    if options.before:
        stored = json.loads(options.before.read_text("utf-8"))
        before = {name: Figures(**figures) for name, figures in stored.items()}
    rows, examples = measure_all(files)
    print("\n".join(lines(rows, before)))
    if options.json:
        figures = {name: asdict(found) for name, found in rows.items()}
        options.json.write_text(json.dumps(figures, indent=1), "utf-8")
    if options.examples:
        print_examples(examples, options.examples)
    return 0


def find_files(folder: Path, families: list[str] | None) -> dict[str, list[Path]]:
    """Reports by family and format."""
    found: dict[str, list[Path]] = defaultdict(list)
    inner = (
        sorted(p for p in folder.iterdir() if p.is_dir() and p.name[0] != ".")
        if folder.is_dir()
        else []
    )
    for place in inner:
        if families and place.name not in families:
            continue
        for path in sorted(place.rglob("*")):
            if path.suffix.lower() in SUFFIXES and path.is_file():
                found[f"{place.name} {path.suffix.lower().lstrip('.')}"].append(path)
    return dict(found)


def measure_all(
    files: dict[str, list[Path]],
) -> tuple[dict[str, Figures], dict[str, list[tuple[str, Example]]]]:
    """Figures and failures of each family and format."""
    rows: dict[str, Figures] = {}
    examples: dict[str, list[tuple[str, Example]]] = defaultdict(list)
    for name, paths in files.items():
        rows[name] = Figures()
        for path in paths:
            measured = measure_file(path)
            rows[name] += measured.figures
            examples[name] += [(path.name, example) for example in measured.examples]
            if measured.reason:
                examples[name].append((path.name, Example("unreliable pairs", 0, measured.reason)))
    return rows, examples


def measure_file(path: Path) -> Measured:
    """One report's figures and failures."""
    try:
        markdown = read_markdown(path)
    except UnreadableDocument as error:
        return Measured(Figures(files=1, unreadable=1), [Example("unreadable", 0, str(error))])
    seen = see(markdown)
    markers = sorted([*seen.markers, *bare_markers(seen)], key=lambda marker: marker.start)
    return measure(markdown, seen, markers, extract_claims(path.stem, markdown))


def print_examples(found: dict[str, list[tuple[str, Example]]], wanted: int) -> None:
    """Some failures of each kind, the same ones each time, over as many files as can be."""
    for family, failures in found.items():
        kinds: dict[str, list[tuple[str, Example]]] = defaultdict(list)
        for failure in failures:
            kinds[failure[1].kind].append(failure)
        for kind, these in kinds.items():
            print(f"\n{family}: {kind} ({len(these):,})")
            random.Random(len(these)).shuffle(these)
            for name, example in these[:wanted]:
                said = " ".join(example.excerpt.split())[:WIDTH]
                print(f"  {name} @{example.place}: {said}")


if __name__ == "__main__":
    raise SystemExit(main())
