"""The table of marker forms: each row is found, the documentation shows it, lookalikes are none."""

import re
from pathlib import Path

import pytest

from tasks.extraction.citations import find_markers
from tasks.extraction.marker_forms import MARKER_FORMS, MarkerForm

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "reference" / "citations.md"
KEYS = {"1", "2", "3", "S3", "4:1", "12"}


def test_the_documentation_shows_the_table() -> None:
    shown = re.findall(
        r"^\| (.+?) \| `(.+)` \| (.+?) \| (.+?) \|$", DOCUMENTATION.read_text(), re.M
    )
    rows = [(f.name, f.example.encode("unicode_escape").decode(), f.key, f.certainty)
            for f in MARKER_FORMS]  # fmt: skip
    written = [(name, example.encode("unicode_escape").decode().replace("\\\\u", "\\u"), key, sure)
               for name, example, key, sure in shown]  # fmt: skip
    assert set(rows) <= set(written)
    assert len(written) == len(rows) + 5  # links, addresses, numbers at the end of a line


@pytest.mark.parametrize("form", MARKER_FORMS, ids=lambda form: form.name)
def test_each_example_is_a_marker(form: MarkerForm) -> None:
    example = form.example if form.example[0].isalpha() else f"Ants bite {form.example}"
    text = " ".join([f"{example} They sting."] * form.least)
    assert any(form.find(text, KEYS))
    found = find_markers(text, KEYS)
    assert len(found) == form.least * (2 if "token" in form.name and "," in example else 1)
    if form.certainty == "needs an entry":
        assert find_markers(text) == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Ants bite[cite: 1, 2].", [("1", "2")]),
        ("Ants bite [^1^][^2^].", [("1",), ("2",)]),
        ("Ants bite [[1]].", [("1",)]),
        ("Ants bite [1](#sources).", [("1",)]),
        ("Ants bite [来源 2, 来源3].", [("2", "3")]),
        ("Ants bite [^1_2].", [("1_2",)]),
        ("Ants bite【3-1】.", [("3-1",)]),
        ("Ants bite【1-3】.", [("1", "2", "3")]),
        ("Ants bite (Source 3).", [("3",)]),
        ("Ants bite¹². They sting²˒³.", [("12",), ("2", "3")]),
        ("They won 10–0<sup>2</sup>, with GPT-4<sup>3</sup>, for $120K/year<sup>1</sup>.",
         [("2",), ("3",), ("1",)]),
        ("In 2002.1 Ants bite.2 They sting,3 too.", [("1",), ("2",), ("3",)]),
        ('They call it "biting".2 It hurts (much).3', [("2",), ("3",)]),
        ("蟻は噛む 1。それは痛い 2、とても 3。", [("1",), ("2",), ("3",)]),
        ("蚂蚁咬人。1它们会蜇。2", [("1",), ("2",)]),
        ("Ants bite 1. They sting 2, too 3.", [("1",), ("2",), ("3",)]),
        ("It rains in the wet season 1. Foragers carry CoV-2 2. They bite all ages 3.",
         [("1",), ("2",), ("3",)]),
        ("Ants bite1. They sting2. Hosts flee3. Queens stay1. Eggs hatch2.",
         [("1",), ("2",), ("3",), ("1",), ("2",)]),
    ],
)  # fmt: skip
def test_keys_are_read_as_the_list_names_them(text: str, keys: list[tuple[str, ...]]) -> None:
    assert [marker.numbers for marker in find_markers(text, {*KEYS, "1_2", "3-1"})] == keys


@pytest.mark.parametrize(
    "text",
    [
        "GPT-4.1 Mini costs $3.5, or 1,200 yen; 2010.3 MHz is 3.1 times more.",
        "An area of 3 m² holds 10⁶ ants, and 2<sup>3</sup> queens in O(n)^2.",
        "Take `ants[1]` or a[0] and the interval [0, 1].",
        "See Fig.2 and No.3 in Sec.1 of vol.2.",
        "In phase 2. On May 3, in Table 1. At step 2, of type 3.",
        "Windows 1, Python 3. About 2. They have 12, at least 3.",
        "Founded in [1999], it has [x] and [ants].",
        "それは3月に、2個、10日。",
        "MoO₄²⁻ of 10⁻⁴ m, 10²–10³ of them, 60万m³, 他的R², $ax^2$, Fe³⁺ and SS2D²Net.",
        r"Match \[0-9\] in all.",
    ],
)
def test_other_numbers_are_no_markers_whatever_the_list_holds(text: str) -> None:
    assert find_markers(text, {str(number) for number in range(1, 100)}) == []


def test_bare_numbers_count_only_where_the_body_cites_by_nothing_else() -> None:
    text = "Ants bite [1]. They sting [2]. Version canals.3 Was built [1]."
    assert [m.text for m in find_markers(text, KEYS)] == ["[1]", "[2]", "[1]"]
    linked = (
        "Ants bite ([a](https://a.example)). They sting ([b](https://b.example)). See hills.3 It"
    )
    assert [m.numbers for m in find_markers(linked, KEYS)] == [(), ()]
    assert [m.numbers for m in find_markers(linked.replace("https:", ""), KEYS)][-1] == ("3",)
    listed = text.replace("[1]", "(then)").replace("[2]", "")
    assert [m.text for m in find_markers(f"{listed}\n\n[1] a\n[2] b", KEYS, [(60, 90)])][:1] == [
        "3"
    ]
