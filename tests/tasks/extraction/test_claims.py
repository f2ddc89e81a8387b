"""Claims and their citations, from whole reports."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.extraction.claims import ExtractedClaims, extract_claims

A, B = "https://a.org/x", "https://b.org/y"
LIST = f"\n\n## References\n[1] {A}\n[2] {B}\n"

REPORT = f"""# Parasitic ant

Some ants are **parasites** of other ants[1]. They were described by Dr. A.J. Wood in 1890.
Hosts feed them [2].

## History

### Early years

- Queens enter nests.[1][2]
- They *smell* like the host in the U.S. and in Europe.

| Year | Event |
|---|---|
| 1890 | First described [2] |

```
code is no claim [1].
```

## See also
- [Slave-making ant](https://en.wikipedia.org/wiki/Slave-making_ant)
{LIST}"""


def pairs(extracted: ExtractedClaims) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(c.text, [(k.url, k.kind) for k in c.citations]) for c in extracted.claims]


def test_claims_come_in_order_with_their_sections_and_citations() -> None:
    found = extract_claims("Parasitic ant", REPORT)
    assert pairs(found) == [
        ("Some ants are parasites of other ants.", [(A, "explicit")]),
        ("They were described by Dr. A.J. Wood in 1890.", [(B, "paragraph")]),
        ("Hosts feed them.", [(B, "explicit")]),
        ("Queens enter nests.", [(A, "explicit"), (B, "explicit")]),
        ("They smell like the host in the U.S. and in Europe.", [(B, "inferred")]),
        ("1890; First described", [(B, "explicit")]),
    ]
    assert [c.section for c in found.claims] == [None] * 3 + ["History > Early years"] * 3
    assert found.pairs_reliable
    assert found.pairs_reason is None


def test_a_marker_of_another_paragraph_item_or_row_is_not_the_claims_own_paragraphs() -> None:
    rows = "\n".join(f"| 189{n} | Ants move north{end} |" for n, end in enumerate(("", " [2]")))
    for text, kinds in (
        ("Ants bite hard. They also sting. [1]", ["paragraph", "explicit"]),
        ("Ants bite hard.\n\nThey also sting. [1]", ["inferred", "explicit"]),
        ("Ants bite hard.\nThey also sting. [1]", ["inferred", "explicit"]),
        ("- Ants bite hard.\n- They also sting. [1]", ["inferred", "explicit"]),
        (f"| Year | Event |\n|---|---|\n{rows}", ["inferred", "explicit"]),
    ):
        found = extract_claims("t", text + LIST)
        assert [k.kind for c in found.claims for k in c.citations] == kinds, text


def test_a_position_is_where_the_claim_begins_in_the_report() -> None:
    for claim in extract_claims("Parasitic ant", REPORT).claims[:5]:
        assert REPORT[claim.position :].startswith(claim.text[:5])


HARD = [("Ants bite hard.", [(A, "explicit")]), ("Bees do not.", [])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A marker belongs to the sentence before it; a claim after the last one cites nothing.
        ("Ants bite hard [1]. Bees do not.", HARD),
        ("Ants bite hard. [1] Bees do not.", HARD),
        ("Ants bite hard.[1] Bees do not.", HARD),
        ("Ants bite hard[1] . Bees do not.", HARD),
        # A link in a sentence keeps its words, one after it does not.
        (f"The [common ant]({A}) bites. It also stings. [BBC]({B})",
         [("The common ant bites.", [(A, "explicit")]), ("It also stings.", [(B, "explicit")])]),
        (f"Ants do bite ([BBC, 2020]({B})).", [("Ants do bite.", [(B, "explicit")])]),
    ],
)  # fmt: skip
def test_a_marker_or_link_belongs_to_its_sentence(
    text: str, expected: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    assert pairs(extract_claims("t", text + LIST)) == expected


def test_lines_without_a_blank_line_between_are_paragraphs_unless_wrapped() -> None:
    lines = "Ants of the first kind bite\nAnts of the second kind sting"
    assert len(extract_claims("t", lines).claims) == 2
    wrapped = "Ants of the first kind, which live in the north, bite their\nhosts in winter."
    assert [c.text for c in extract_claims("t", wrapped).claims] == [wrapped.replace("\n", " ")]


def test_a_bold_line_and_a_line_with_a_colon_are_headings() -> None:
    found = extract_claims("t", f"**Life cycle**\n\nAnts bite their hosts.[1]\n\nSources:\n[1] {A}")
    assert [(c.text, c.section) for c in found.claims] == [("Ants bite their hosts.", "Life cycle")]
    assert found.pairs_reliable


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        ("Ants bite their hosts.", "cites no URL"),
        ("", "cites no URL"),
        ("Ants bite their hosts." + LIST, "no marker in its text"),
        ("Ants bite [1].\n\n## References\n1. A book.", "no reference list with URLs"),
        (f"A b c [1]. A b c [2]. A b c [3].\n\n# Sources\n[1] {A}", "only 1 of 3"),
        ("Ants bite their hosts.\n\nReferences: https://a.org/x", "no marker in its text"),
    ],
)
def test_why_pairs_are_not_reliable_is_said_in_words(report: str, reason: str) -> None:
    found = extract_claims("t", report)
    assert not found.pairs_reliable
    assert reason in (found.pairs_reason or "")


PIECES = st.sampled_from(
    [
        *("# H\n", "## References\n", "- ", "1. ", "> ", "| a | b |\n", "|---|---|\n", "```\n"),
        *("\n", "\n\n", "\t", "\r\n", "\x00", "\u2028", "é", "**", "*", "_", "<b>", "&amp;"),
        *("[1]", "[2] https://a.org/x\n", f"[t]({A})", "\\[3\\]", "![x](y)", "【4†s】"),
        *("Ants bite. ", "Dr. ", "Sources:"),
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=120))
def test_no_text_makes_it_raise_and_positions_stand_in_the_text(markdown: str) -> None:
    found = extract_claims("H", markdown)
    positions = [claim.position for claim in found.claims]
    assert all(place is not None and 0 <= place < len(markdown) for place in positions)
    assert all(c.marker in markdown for claim in found.claims for c in claim.citations)
