"""Blocks, headings and reference sections of a report."""

import pytest

from tasks.extraction.blocks import parse_outline
from tasks.extraction.headings import is_reference_heading


@pytest.mark.parametrize(
    "heading",
    ["References", "## References:**".lstrip("# "), "9\\. Works cited", "See Also", "Key Citations",
     "**Sources and further reading**", "Citations used in this report:", "Selected bibliography",
     "VI. Notes and references", "External links", "References and Data Sources"],
)  # fmt: skip
def test_headings_of_the_apparatus_are_known(heading: str) -> None:
    assert is_reference_heading(heading)


@pytest.mark.parametrize(
    "heading", ["Cultural references", "Notes on sources and verification", "Reception", "",
                "Sources and historiography", "The Outcome: No Citations"]
)  # fmt: skip
def test_headings_of_content_are_not(heading: str) -> None:
    assert not is_reference_heading(heading)


def test_a_reference_section_ends_at_the_next_heading_of_its_rank() -> None:
    text = "# T\n\n## Sources\n\n### Books\n\n[1] a\n\n## Legacy\n\nThey live on."
    parts = parse_outline(text)
    assert [text[a:b].strip() for a, b in parts.references] == ["### Books\n\n[1] a"]
    assert [(b.section, b.apparatus) for b in parts.blocks] == [
        (("Sources", "Books"), True),
        (("Legacy",), False),
    ]


def test_list_items_quotes_and_rows_are_blocks_of_their_own_without_their_marks() -> None:
    text = "- one\n  - two\n\n> three\n\n| h |\n|---|\n| four |\n\n```\nfive\n```\n"
    blocks = parse_outline(text).blocks
    assert [(b.kind, text[b.start : b.end]) for b in blocks] == [
        ("item", "one"),
        ("item", "two"),
        ("prose", "three"),
        ("row", "| four |"),
    ]


def test_the_first_heading_is_the_title_and_no_section() -> None:
    text = "# Another wording\n\nLead.\n\n# History\n\nEarly."
    assert [b.section for b in parse_outline(text, "Ant").blocks] == [(), ("History",)]
    assert [b.section for b in parse_outline("Lead.\n\n# Ant\n\nMore.", "Ant").blocks] == [(), ()]
