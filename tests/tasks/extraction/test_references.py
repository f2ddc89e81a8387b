"""Reference lists in the shapes that reports use."""

import pytest

from tasks.extraction.blocks import parse_outline
from tasks.extraction.headings import is_reference_heading
from tasks.extraction.references import References, find_references

A, B, C = "https://a.org/x", "https://b.org/y", "https://c.org/z"


def read(markdown: str, cited: tuple[str, ...] = ()) -> References:
    return find_references(markdown, parse_outline(markdown), cited)


def urls(found: References) -> dict[str, str]:
    return {key: url for listed in found.lists for key, url in listed.urls.items()}


@pytest.mark.parametrize(
    "listing",
    [
        f"## References\n[1] {A}\n[2] {B}",
        f"## References\n\n[1] <{A}>\n\n[2] <{B}>",
        f"## References:**\n- [1] {A}\n- [2] {B}",
        f"### Sources\n[1] First: {A}  \n[2] Second (2021) — review: {B}",
        f"## Sources\n\n1. [First]({A})\n2. [Second]({B})",
        f"### References\n1. First, formation, {A}\n2) Second, {B}.",
        f"**References**\n\n1 {A}  \n2 {B}",
        f"Citations:\n[1] {A}\n[2] {B}",
        f"#### References\n[1] First \\- A, accessed May 1, 2025， [{A}]({A})  \n[2] S, [{B}]({B})",
        f"## References\n[2] Second\n{B}\n[1] [3] First | A\n{A}",
        f"## 9\\. Works cited\n【1】 {A}\n【2】 {B}",
        f"Ants bite.[^1]\n\n[^1]: First, {A}\n[^2]: Second, {B}",
        f"Ants bite [1].\n\n[1]: {A}\n[2]: {B}",
        f"## Key Citations\n[[1]]({A}) First\n[[2]]({B}) Second",
        f"## References\n- {A}[1]\n- {B} (Second)[2][4]",
    ],
)
def test_numbers_lead_to_urls_in_each_shape(listing: str) -> None:
    found = read(listing)
    assert (found.find("1"), found.find("2")) == (A, B)


def test_an_unnumbered_list_is_numbered_by_order_only_where_the_count_agrees() -> None:
    listing = f"# References\n- {A}\n- Second: {B}"
    assert urls(read(listing, ("1", "2"))) == {"1": A, "2": B}
    assert urls(read(listing, ("1", "3"))) == {}
    assert read(listing).n_urls == 2


def test_the_list_with_urls_on_their_own_lines_wins_over_one_with_other_numbers() -> None:
    listing = f"## References\n[1] My own, {C}\n\n[1] [2] Made by the agent\n{A}"
    assert urls(read(listing)) == {"1": A, "2": A}


def test_escaped_and_broken_addresses_are_mended() -> None:
    listing = "## References\n[1] x, [https://a.org/b\\_c](https://a.org/b_c)\n"
    assert urls(read(listing)) == {"1": "https://a.org/b_c"}
    listing = "## References\n[1] [https://www[3] c.org/en/](https://www[3] c.org/en/)"
    assert urls(read(listing)) == {"1": "https://www.3c.org/en/"}


def test_a_list_without_urls_leads_nowhere() -> None:
    assert urls(read("## References\n1. BBC News. “Ants”.\n[2] A book.")) == {}


@pytest.mark.parametrize(
    ("heading", "is_one"),
    [
        ("参考文献 (References)", True),
        ("Sources / 来源", True),
        ("15. References (APA 7th Edition)", True),
        ("B. Suggested further reading", True),
        ("研究来源汇总", True),
        ("Sources / Uses of funds", False),
        ("Sources of power (2024)", False),
        ("收入来源", False),
        ("Annotated bibliography", False),
    ],
)
def test_headings_of_lists_come_in_two_languages_and_with_remarks(
    heading: str, is_one: bool
) -> None:
    assert is_reference_heading(heading) is is_one
