"""Which (claim, URL) pairs a report's published statements make."""

from typing import Any

import pytest

from tasks.benchmarks.document import parse_document
from tasks.benchmarks.published_claims import PublishedClaims, parse_claims
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import Report, content_sha

COLONY = "https://ants.example/colony"
QUEEN = "https://ants.example/queen"
MISSPELLED = "https://ants.example/the_queen"
REPORT = f"Ants live in colonies [1][2].\n\n[1] {COLONY}\n[2] {QUEEN}\n"


def read(
    statements: list[Any], citation_urls: dict[str, str] | None = None, text: str = REPORT
) -> PublishedClaims:
    report = Report(
        edition="e",
        agent="alpha",
        assignment="Ant",
        text=text,
        text_sha=content_sha(text),
        source_path="x.md",
    )
    parsed = parse_document({"statements": statements, "citation_urls": citation_urls or {}})
    assert parsed is not None
    found = parse_claims(report, parsed)
    assert found is not None
    return found


def pairs(found: PublishedClaims) -> list[tuple[int, str]]:
    return [(c.number, c.raw_url) for c in found.citations]


def test_facts_and_statements_become_numbered_claims() -> None:
    found = read([{"fact": "A"}, {"statement": "B", "ref_idx": None}])
    assert [(c.number, c.text, c.source) for c in found.claims] == [
        (0, "A", "published"),
        (1, "B", "published"),
    ]


@pytest.mark.parametrize("url", [COLONY, [COLONY], [COLONY, ""], [COLONY, None]])
def test_a_url_or_a_list_of_urls_makes_the_pairs(url: Any) -> None:
    found = read([{"fact": "A", "ref_idx": None, "url": url}])
    assert pairs(found) == [(0, COLONY)]
    assert found.citations[0].url == normalise_url(COLONY)
    assert found.citations[0].kind == "published"


@pytest.mark.parametrize("numbers", ["2", ["2"], [2]])
def test_without_a_url_field_the_numbers_make_the_pairs(numbers: Any) -> None:
    found = read([{"fact": "A", "ref_idx": numbers}], {"2": QUEEN})
    assert pairs(found) == [(0, QUEEN)]


def test_a_null_url_makes_no_pair_even_with_numbers() -> None:
    assert pairs(read([{"fact": "A", "ref_idx": "2", "url": None}], {"2": QUEEN})) == []


def test_more_urls_than_numbers_all_count_if_the_report_holds_them() -> None:
    found = read([{"fact": "A", "ref_idx": ["1"], "url": [COLONY, QUEEN]}], {"1": COLONY})
    assert pairs(found) == [(0, COLONY), (0, QUEEN)]
    assert found.n_foreign == 0


def test_a_url_the_report_never_wrote_makes_no_pair_and_is_counted() -> None:
    found = read([{"fact": "A", "ref_idx": "1", "url": [COLONY, MISSPELLED]}], {"1": COLONY})
    assert pairs(found) == [(0, COLONY)]
    assert found.n_foreign == 1
    assert found.claims[0].unwritten_urls == normalise_url(MISSPELLED)


def test_the_beginning_of_a_longer_address_does_not_stand_in_the_report() -> None:
    found = read([{"fact": "A", "url": "https://ants.example/col"}, {"fact": "B", "url": COLONY}])
    assert pairs(found) == [(1, COLONY)]


def test_an_address_stands_in_the_report_under_another_escape() -> None:
    text = "See https://ants.example/Mel%C3%A9ndez?a=1&amp;b=2."
    found = read([{"fact": "A", "url": "https://ants.example/Meléndez?a=1&b=2"}], text=text)
    assert len(found.citations) == 1


def test_a_listed_source_counts_even_where_the_markdown_lacks_it() -> None:
    assert pairs(read([{"fact": "A", "url": MISSPELLED}], {"9": MISSPELLED})) == [(0, MISSPELLED)]


def test_what_is_no_address_makes_no_pair_and_is_counted() -> None:
    found = read([{"fact": "A", "url": ["Liner notes to a recording", COLONY]}])
    assert pairs(found) == [(0, COLONY)]
    assert found.n_no_address == 1


def test_one_address_in_two_forms_is_one_pair_of_a_claim_in_its_first_form() -> None:
    forms = {"1": COLONY, "2": f"{COLONY}#life"}
    found = read([{"fact": "A", "url": list(forms.values())}, {"fact": "B", "url": COLONY}], forms)
    assert pairs(found) == [(0, COLONY), (1, COLONY)]


def test_the_extraction_counts_claims_and_pairs_of_this_text() -> None:
    found = read([{"fact": "A", "url": [COLONY, QUEEN]}, {"fact": "B", "url": None}])
    extraction = found.extraction
    assert (extraction.n_items, extraction.n_pairs) == (2, 2)
    assert (extraction.source, extraction.extractor_version) == ("published", "published")
    assert extraction.input_sha == content_sha(REPORT)
    assert extraction.pairs_reliable


def test_the_output_sha_tells_other_texts_and_other_pairs_apart() -> None:
    variants = [
        read([{"fact": "A", "url": COLONY}]),
        read([{"fact": "B", "url": COLONY}]),
        read([{"fact": "A", "url": QUEEN}]),
        read([{"fact": "A"}]),
    ]
    assert len({found.extraction.output_sha for found in variants}) == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [(REPORT, "though the report holds some"), ("No sources.", "the report cites no URL")],
)
def test_without_any_pair_the_extraction_says_why(text: str, reason: str) -> None:
    extraction = read([{"statement": "A", "ref_idx": None}], text=text).extraction
    assert not extraction.pairs_reliable
    assert reason in (extraction.pairs_reason or "")


def test_pairs_are_unreliable_once_most_citing_claims_lose_every_address() -> None:
    good, bad = {"fact": "A", "url": COLONY}, {"fact": "B", "url": MISSPELLED}
    assert read([good, bad, {"fact": "C"}]).extraction.pairs_reliable
    extraction = read([good, bad, bad]).extraction
    assert (extraction.n_pairs, extraction.pairs_reliable) == (1, False)
    assert "2 of the 3 published claims that cite anything" in (extraction.pairs_reason or "")
