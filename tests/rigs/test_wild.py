"""The rig's own reader and its figures, on reports written by hand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.extraction.claims import ExtractedCitation, ExtractedClaim, ExtractedClaims
from tests.rigs.wild.__main__ import main
from tests.rigs.wild.addresses import address_end, fault, key
from tests.rigs.wild.markers import Marker, see
from tests.rigs.wild.measures import FALSE, LEFT, LISTED, MISSED, measure
from tests.rigs.wild.numbers import bare_markers

LIST = """
## Sources

1. Tide tables, https://tides.test.org/a
2. Harbour office, https://harbour.test.org/b
3. Ferry company, https://ferry.test.org/c
4. Lighthouse trust, https://light.test.org/d
"""


def numbers(markdown: str) -> list[str | None]:
    seen = see(markdown)
    return [m.number for m in sorted([*seen.markers, *bare_markers(seen)], key=lambda m: m.start)]


def addresses(markdown: str) -> list[str | None]:
    seen = see(markdown)
    found = sorted([*seen.markers, *bare_markers(seen)], key=lambda m: m.start)
    return [key(marker.address) if marker.address else None for marker in found]


@pytest.mark.parametrize(
    ("marks", "read"),
    [
        ("[1]", ["1"]),
        ("[1, 3–4]", ["1", "3", "4"]),
        ("[1][2]", ["1", "2"]),
        (r"\[2\]\[4\]", ["2", "4"]),
        ("[^3]", ["3"]),
        ("[^3^]", ["3"]),
        ("[[1,2]]", ["1", "2"]),
        ("【4】", ["4"]),
        ("[cite: 1, 2]", ["1", "2"]),
        ("[citation:2]", ["2"]),
        ("[Source 3]", ["3"]),
        ("<sup>1,2</sup>", ["1", "2"]),
        ("【4:1†source】", ["4:1"]),
        ("citeturn0search3", [None]),
        ("[2024]", []),
        ("[Table 3]", []),
        ("`row[1]`", []),
        ("<!-- [1] -->", []),
    ],
)
def test_a_mark_is_read_as_a_reader_would(marks: str, read: list[str | None]) -> None:
    assert numbers(f"The ferry leaves at high water {marks}.\n{LIST}") == read


def test_links_of_every_sort_lead_to_their_own_address() -> None:
    report = (
        "The quay was built in stone ([Harbour](https://harbour.test.org/quay_(old)#:~:text=a b)). "
        "It silts up [[2]](https://silt.test.org). See <a href='https://map.test.org'>a map</a> or "
        "[the plan][plan], or https://plan.test.org/x。\n\n[plan]: https://plan.test.org/y\n"
    )
    assert addresses(report) == [
        "harbour.test.org/quay_(old)",
        "silt.test.org",
        "map.test.org",
        "plan.test.org/y",
        "plan.test.org/x",
    ]


def test_numbers_glued_to_the_stop_are_marks_where_the_list_has_them() -> None:
    said = (
        "The harbour freezes.1 It was dredged in 2002.2 Version 2.5 of the chart is out.3 "
        "The fare is $3.5 for 1,200 people.4 The ferry is old.1 Ice is thin.2 Boats wait.3"
    )
    assert numbers(f"{said}\n{LIST}") == ["1", "2", "3", "4", "1", "2", "3"]


def test_numbers_before_the_stop_are_marks_unless_their_word_counts_something() -> None:
    said = (
        "The harbour freezes 1. The channel silts up 2. Ferry boats wait for pilots 3. "
        "They pass Pier 2 slowly and moor at Pier 3. The lamp was lit in section 4. Keepers stay 4."
    )
    assert numbers(f"{said}\n{LIST}") == ["1", "2", "3", "4"]


def test_powers_are_no_marks_and_rising_superscripts_are() -> None:
    assert numbers(f"The basin holds 40 m³ on 12 km² of 10⁴.\n{LIST}") == []
    assert numbers(f"It froze.¹ It silted.² Boats wait.³ Lamps burn.⁴\n{LIST}") == list("1234")


def test_a_numbered_argument_is_no_list_of_sources() -> None:
    body = (
        "1. **Tides** rise twice a day here, which every captain knows well enough and plans "
        "for in advance, as the office [has shown](https://harbour.test.org/x). They fall. [1]\n"
        "2. **Ice** comes late.[2]\n3. **Silt** stays.[3]\n"
    )
    seen = see(f"{body}\nMore words about the harbour follow here. \n{LIST}")
    assert [len(found) for found in seen.sources.lists] == [4]


def test_each_chapter_may_have_its_own_list() -> None:
    chapter = "It is deep [1], wide [2].\n\nSources\n\n[1] https://{0}.test.org/a\n[2] https://{0}.test.org/b\n\n"
    report = chapter.format("one") + "Much has been said of the harbour. " * 30 + "\n\n"
    assert addresses(report + chapter.format("two")) == [
        "one.test.org/a",
        "one.test.org/b",
        "two.test.org/a",
        "two.test.org/b",
    ]


def test_addresses_end_and_compare_as_a_reader_would_have_it() -> None:
    text = "see https://a.test.org/x_(y), then"
    assert text[4 : address_end(text, 4)] == "https://a.test.org/x_(y)"
    assert key("http://www.A.test.org/b%20c/#top") == key("https://a.test.org/b c")
    for broken in ("x`y", "x。y", "(x", "x,", "a b", "x](y"):
        assert fault(f"https://a.test.org/{broken}"), broken
    assert fault("https://a.test.org/Baker's_(x)") is None


def test_figures_count_what_the_product_misses() -> None:
    report = f"The harbour freezes in winter [1]. The channel silts up [2].\n{LIST}"
    seen = see(report)
    cited = ExtractedCitation(
        "https://tides.test.org/a", "https://tides.test.org/a", "[1]", "explicit"
    )
    odd = ExtractedCitation("https://x.test.org", "https://x.test.org", "[7]", "explicit")
    made = ExtractedClaims(
        claims=(
            ExtractedClaim("The harbour freezes in winter.", None, 0, (cited,)),
            ExtractedClaim("The channel silts up [2].", None, 35, ()),
            ExtractedClaim("Harbour office", None, report.index("Harbour office"), (odd,)),
        ),
        pairs_reliable=True,
        pairs_reason=None,
    )
    measured = measure(report, seen, seen.markers, made)
    figures = measured.figures
    assert (figures.addressed, figures.led, figures.reliable, figures.unpaired) == (2, 1, 1, 1)
    assert (figures.listed, figures.residue, figures.false) == (1, 1, 1)
    assert {e.kind for e in measured.examples} >= {MISSED, LISTED, LEFT, FALSE}


def test_a_mark_leads_where_the_claim_before_it_cites() -> None:
    report = "Ice is thin. [1]\n\n[1]: https://ice.test.org\n"
    seen = see(report)
    assert seen.markers == (Marker(13, 16, "bracket", "1", "https://ice.test.org"),)


def test_the_rig_compares_runs_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    family = tmp_path / "reports" / "harbour"
    family.mkdir(parents=True)
    (family / "ice.md").write_text(f"The harbour freezes in winter [1].\n{LIST}", "utf-8")
    kept = tmp_path / "figures.json"
    for options in (["--json", str(kept), "--examples", "2"], ["--before", str(kept)]):
        monkeypatch.setattr(sys, "argv", ["wild", str(tmp_path / "reports"), *options])
        assert main() == 0
    assert json.loads(kept.read_text("utf-8"))["harbour md"]["addressed"] == 1
    assert "harbour md" in capsys.readouterr().out
    for arguments in ([str(tmp_path / "nowhere")], [""]):
        monkeypatch.setattr(sys, "argv", ["wild", *arguments])
        assert main() == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_its_reader_shares_nothing_with_the_product() -> None:
    folder = Path(__file__).parent / "wild"
    said = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    imports = {line for line in said.splitlines() if "tasks." in line and "import" in line}
    assert all("extraction.claims" in line or "documents" in line for line in imports)


def test_help_names_every_figure() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "tests.rigs.wild", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for word in ("--family", "--examples", "--json", "--before", "led", "unpaired", "false"):
        assert word in shown
