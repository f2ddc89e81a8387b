"""Ten published reports as .html, .docx and .pdf say what they say as .md.

The files are made as people make them: markdown-it writes HTML as chat interfaces show it (a line
break is a line break), pandoc makes a Word file of that, Chromium prints it as a PDF with tags,
and as one without.
"""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tasks.documents.reading import read_document
from tasks.extraction.claims import ExtractedClaim, extract_claims
from tests.tasks.published import EDITION, MARKS

pytestmark = MARKS
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
STYLE = "body { overflow-wrap: break-word } td, th { border: 1px solid }"
PRINT = ("chromium", "--headless", "--no-sandbox", "--disable-gpu")


def make_html(markdown: str, title: str, to: Path) -> None:
    writer = MarkdownIt("commonmark", {"breaks": True}).enable("table").disable("reference")
    to.write_text(
        f"<!doctype html><html><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}"
        f"</style></head><body>{writer.render(markdown)}</body></html>",
        "utf-8",
    )


def make_file(page: Path, to: Path) -> None:
    """Make a Word file or a PDF of a page."""
    commands: dict[str, tuple[str | Path, ...]] = {
        "report.docx": ("pandoc", "-f", "html", "-t", "docx", "-o", to, page),
        "tagged.pdf": (*PRINT, f"--print-to-pdf={to}", page),
        "bare.pdf": (*PRINT, "--disable-pdf-tagging", f"--print-to-pdf={to}", page),
    }
    subprocess.run(commands[to.name], check=True, capture_output=True)


def needs(program: str) -> list[pytest.MarkDecorator]:
    absent = shutil.which(program) is None
    return [pytest.mark.rig, pytest.mark.skipif(absent, reason=f"needs {program}: `make rigs`")]


def words_of(claim: ExtractedClaim) -> str:
    return " ".join(re.findall(r"\w+", claim.text.casefold()))


def read(markdown: str) -> dict[str, Counter[object]]:
    """A report's claims, their pairs with addresses, and its addresses."""
    claims = extract_claims("", markdown).claims
    pairs = [(words_of(claim), cited.url) for claim in claims for cited in claim.citations]
    return {
        "claims": Counter(map(words_of, claims)),
        "pairs": Counter(pairs),
        "addresses": Counter({url for _, url in pairs}),
    }


@pytest.mark.parametrize(
    ("file", "floor"),
    [
        ("page.html", 0.995),
        pytest.param("report.docx", 0.995, marks=needs("pandoc")),
        pytest.param("tagged.pdf", 0.97, marks=needs("chromium")),
        pytest.param("bare.pdf", 0.95, marks=needs("chromium")),
    ],
)
def test_a_format_keeps_claims_and_their_addresses(file: str, floor: float, tmp_path: Path) -> None:
    """The F1 over all ten reports of claims, of pairs and of addresses reaches the floor."""
    same, on_both_sides = Counter[str](), Counter[str]()
    only_here: dict[str, list[object]] = {}
    for agent, article in REPORTS:
        source = EDITION / "test_data" / agent / "md_data" / f"{article}.md"
        folder = tmp_path / f"{agent} {article}"
        folder.mkdir()
        make_html(source.read_text("utf-8"), article, folder / "page.html")
        if file != "page.html":
            make_file(folder / "page.html", folder / file)
        expected = read(source.read_text("utf-8"))
        given = read(read_document(file, (folder / file).read_bytes()).markdown)
        for what in expected:
            same[what] += 2 * (expected[what] & given[what]).total()
            on_both_sides[what] += expected[what].total() + given[what].total()
        lost, new = expected["claims"] - given["claims"], given["claims"] - expected["claims"]
        only_here[folder.name] = [*lost, "became", *new]
    f1 = {what: same[what] / n for what, n in on_both_sides.items()}
    assert min(f1.values()) >= floor, (f1, only_here)
