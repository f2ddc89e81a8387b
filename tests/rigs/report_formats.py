"""Read ten published reports as .html, .docx and .pdf, and compare with the same ones as .md.

    python -m tests.rigs.report_formats [--edition FOLDER] [--keep FOLDER] [--worst 3]

The files are made as people make them: markdown-it writes HTML as chat interfaces show it (a line
break is a line break), pandoc makes a Word file of that, Chromium prints it as a PDF with tags,
and as one without. Each is read by `read_document`; claims and their addresses are extracted from
what comes out. Prints the agreement by format, the worst reports with their differences, and
exits with 1 below FLOORS.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from markdown_it import MarkdownIt
from rapidfuzz import fuzz, process

from tasks.documents.reading import read_document
from tasks.extraction.claims import ExtractedClaim, extract_claims

EDITION = Path(__file__).resolve().parents[3] / "shared" / "data" / "wlc" / "2025_Mar_Nov"
REPORTS = (
    ("gemini_2.5_pro", "2010_NFC_Championship_Game"),
    ("gemini_2.5_pro", "Central_Africa_Regiment"),
    ("gemini_3_pro", "Banshee_(collection)"),
    ("gemini_3_pro", "Assassination_of_George_Lincoln_Rockwell"),
    ("grok", "Banshee_(collection)"),
    ("langchain_w_gpt4.1", "Central_Africa_Regiment"),
    ("langchain_w_gpt5", "2025_Enderlin_tornado"),
    ("openai", "Assassination_of_George_Lincoln_Rockwell"),
    ("openai", "2010_NFC_Championship_Game"),
    ("tongyi", "2025_Enderlin_tornado"),
)
"""Agent and article: numbers with a list of links, of bare addresses, of entries over two lines,
numbered lists, addresses after the number, no addresses at all; with tables and without."""
FORMATS = {"html": "page.html", "docx": "report.docx", "pdf": "tagged.pdf", "pdf bare": "bare.pdf"}
FLOORS = {"html": 0.995, "docx": 0.995, "pdf": 0.97, "pdf bare": 0.95}
"""F1 of claims, of pairs and of addresses, over all ten reports, must each reach this."""
ALIKE = 90
STYLE = "body { overflow-wrap: break-word } td, th { border: 1px solid }"


@dataclass(frozen=True)
class Share:
    """How many of one side's things the other has, and of how many on each side."""

    found: int = 0
    n_expected: int = 0
    n_given: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def recall(self) -> float | None:
        return self.found / self.n_expected if self.n_expected else None

    @property
    def precision(self) -> float | None:
        return self.found / self.n_given if self.n_given else None

    @property
    def f1(self) -> float | None:
        """0-1; None where there was nothing to find and nothing was given."""
        both = self.n_expected + self.n_given
        return 2 * self.found / both if both else None


@dataclass(frozen=True)
class Compared:
    """One report in one format against the same one as Markdown."""

    claims: Share = Share()
    """Equal but for punctuation and blanks."""
    claims_alike: Share = Share()
    """Alike to 90 of 100 at least."""
    pairs: Share = Share()
    """Of a claim and an address, both equal."""
    pairs_alike: Share = Share()
    urls: Share = Share()

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def missing() -> str | None:
    """What is not installed; None if all is."""
    absent = [name for name in ("chromium", "pandoc") if shutil.which(name) is None]
    return f"{', '.join(absent)} not installed: run `make rigs` as root" if absent else None


def make_files(markdown: str, title: str, folder: Path) -> None:
    """The report in every format, under the names of FORMATS."""
    writer = MarkdownIt("commonmark", {"breaks": True}).enable("table").disable("reference")
    page = folder / FORMATS["html"]
    page.write_text(
        f"<!doctype html><html><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}"
        f"</style></head><body>{writer.render(markdown)}</body></html>",
        "utf-8",
    )
    _run("pandoc", "-f", "html", "-t", "docx", "-o", folder / FORMATS["docx"], page)
    print_page = ("chromium", "--headless", "--no-sandbox", "--disable-gpu")
    _run(*print_page, f"--print-to-pdf={folder / FORMATS['pdf']}", page)
    _run(
        *print_page, "--disable-pdf-tagging", f"--print-to-pdf={folder / FORMATS['pdf bare']}", page
    )


def compare(expected: Sequence[ExtractedClaim], given: Sequence[ExtractedClaim]) -> Compared:
    """How far two extractions of one report agree."""
    ours, theirs = [_words(c) for c in expected], [_words(c) for c in given]
    partners = _partners(ours, theirs)
    urls, other_urls = (
        [[c.url for c in claim.citations] for claim in expected],
        [[c.url for c in claim.citations] for claim in given],
    )
    pairs = [(text, url) for text, found in zip(ours, urls, strict=True) for url in found]
    other_pairs = [(t, url) for t, found in zip(theirs, other_urls, strict=True) for url in found]
    alike = sum(len(set(urls[one]) & set(other_urls[other])) for one, other in partners.items())
    return Compared(
        claims=_share(ours, theirs),
        claims_alike=Share(len(partners), len(ours), len(theirs)),
        pairs=_share(pairs, other_pairs),
        pairs_alike=Share(alike, len(pairs), len(other_pairs)),
        urls=_share({u for found in urls for u in found}, {u for f in other_urls for u in f}),
    )


def differences(
    expected: Sequence[ExtractedClaim], given: Sequence[ExtractedClaim]
) -> tuple[list[str], list[str]]:
    """Claims that only one side has: of the Markdown, of the file."""
    ours, theirs = Counter(map(_words, expected)), Counter(map(_words, given))
    return (
        [claim.text for claim in expected if _words(claim) not in theirs],
        [claim.text for claim in given if _words(claim) not in ours],
    )


def compare_all(edition: Path, folder: Path) -> dict[str, dict[str, Compared]]:
    """By format and report; the files and what was read of them stay in `folder`."""
    found: dict[str, dict[str, Compared]] = {name: {} for name in FORMATS}
    for agent, article in REPORTS:
        markdown = (edition / "test_data" / agent / "md_data" / f"{article}.md").read_text("utf-8")
        place = folder / f"{agent} {article}"
        place.mkdir(parents=True)
        make_files(markdown, article, place)
        expected = extract_claims("", markdown).claims
        for name, file in FORMATS.items():
            text = read_document(file, (place / file).read_bytes()).markdown
            (place / f"{file}.md").write_text(text, "utf-8")
            found[name][place.name] = compare(expected, extract_claims("", text).claims)
        (place / "report.md").write_text(markdown, "utf-8")
    return found


def _run(*command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()[-500:]}")


def _partners(ours: Sequence[str], theirs: Sequence[str]) -> dict[int, int]:
    """For each claim of ours the one of theirs that is most like it; none is taken twice."""
    scores = process.cdist(ours, theirs, scorer=fuzz.ratio, score_cutoff=ALIKE)
    ranked = sorted(
        ((-scores[a][b], abs(a - b), a, b) for a, b in zip(*scores.nonzero(), strict=True))
    )
    partners: dict[int, int] = {}
    for *_, one, other in ranked:
        if one not in partners and other not in partners.values():
            partners[int(one)] = int(other)
    return partners


def _share(expected: Iterable[object], given: Iterable[object]) -> Share:
    one, other = Counter(expected), Counter(given)
    return Share((one & other).total(), one.total(), other.total())


def _words(claim: ExtractedClaim) -> str:
    return " ".join(re.findall(r"\w+", claim.text.casefold()))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _print_totals(found: dict[str, dict[str, Compared]]) -> list[str]:
    """The table; what lies below its floor."""
    measures = [f.name for f in fields(Compared)]
    print(f"{'format':10}" + "".join(f"{m.replace('_', ' '):>26}" for m in measures))
    low = []
    for name, reports in found.items():
        total = sum(reports.values(), Compared())
        shares = {measure: getattr(total, measure) for measure in measures}
        cells = [
            f"{_percent(s.precision)} {_percent(s.recall)} {_percent(s.f1)}"
            for s in shares.values()
        ]
        print(f"{name:10}" + "".join(f"{cell:>26}" for cell in cells))
        low += [
            f"{name}: F1 of {measure} is {_percent(shares[measure].f1)}, below "
            f"{_percent(FLOORS[name])}"
            for measure in ("claims", "pairs", "urls")
            if (shares[measure].f1 or 0.0) < FLOORS[name]
        ]
    read = sum(next(iter(found.values())).values(), Compared())
    n_claims, n_pairs, n_urls = (s.n_expected for s in (read.claims, read.pairs, read.urls))
    print(f"precision, recall, F1 in percent; {len(REPORTS)} reports, {n_claims} claims, {n_pairs} "
          f"pairs, {n_urls} addresses")  # fmt: skip
    return low


def _print_worst(found: dict[str, dict[str, Compared]], folder: Path, n_worst: int) -> None:
    ranked = sorted(
        (compared.claims.f1 or 0.0, name, report)
        for name, reports in found.items()
        for report, compared in reports.items()
    )
    for f1, name, report in ranked[:n_worst]:
        print(f"\n{report} as {name}: F1 of claims {_percent(f1)}")
        texts = [
            (folder / report / file).read_text("utf-8")
            for file in ("report.md", f"{FORMATS[name]}.md")
        ]
        lost, new = differences(*(extract_claims("", text).claims for text in texts))
        for sign, claims in (("-", lost), ("+", new)):
            for claim in claims[:8]:
                print(f"  {sign} {claim[:160]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--edition", type=Path, default=EDITION)
    parser.add_argument("--keep", type=Path, help="a new folder for the files that are made")
    parser.add_argument("--worst", type=int, default=3)
    options = parser.parse_args()
    if reason := missing():
        print(f"Skipped: {reason}.")
        return
    with TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        found = compare_all(options.edition, folder)
        low = _print_totals(found)
        _print_worst(found, folder, options.worst)
    for line in low:
        print(line)
    sys.exit(1 if low else 0)


if __name__ == "__main__":
    main()
