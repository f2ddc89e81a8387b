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
REPORT = (
    f"Ants live in colonies [1][2].\n\n[1] {COLONY}\n[2] {QUEEN}\n"
    "[3] https://ants.example/Mel%C3%A9ndez?a=1&amp;b=2.\n"
)


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


def fact(url: Any = None, **more: Any) -> dict[str, Any]:
    return {"fact": "A", "url": url} | more


ESCAPED = "https://ants.example/Meléndez?a=1&b=2"
LIFE = f"{COLONY}#life"
PAIRS: dict[str, tuple[list[Any], dict[str, str], list[tuple[int, str]]]] = {
    "a URL": ([fact(COLONY, ref_idx=None)], {}, [(0, COLONY)]),
    "a list of URLs": ([fact([COLONY])], {}, [(0, COLONY)]),
    "a list with an empty text": ([fact([COLONY, ""])], {}, [(0, COLONY)]),
    "a list with null": ([fact([COLONY, None])], {}, [(0, COLONY)]),
    "without a URL field a number": ([{"fact": "A", "ref_idx": "2"}], {"2": QUEEN}, [(0, QUEEN)]),
    "without it a list": ([{"fact": "A", "ref_idx": ["2"]}], {"2": QUEEN}, [(0, QUEEN)]),
    "without it a list of numbers": ([{"fact": "A", "ref_idx": [2]}], {"2": QUEEN}, [(0, QUEEN)]),
    "a null URL makes no pair even with numbers": ([fact(ref_idx="2")], {"2": QUEEN}, []),
    "more URLs than numbers all count if the report holds them": (
        [fact([COLONY, QUEEN], ref_idx=["1"])], {"1": COLONY}, [(0, COLONY), (0, QUEEN)]
    ),
    "the beginning of a longer address does not stand in the report": (
        [fact("https://ants.example/col"), fact(COLONY)], {}, [(1, COLONY)]
    ),
    "an address stands in the report under another escape": (
        [fact(ESCAPED)], {}, [(0, ESCAPED)]
    ),
    "a listed source counts even where the Markdown lacks it": (
        [fact(MISSPELLED)], {"9": MISSPELLED}, [(0, MISSPELLED)]
    ),
    "what is no address makes no pair": (
        [fact(["Liner notes to a recording", COLONY])], {}, [(0, COLONY)]
    ),
    "one address in two forms is one pair of a claim in its first form": (
        [fact([COLONY, LIFE]), fact(COLONY)], {"1": COLONY, "2": LIFE}, [(0, COLONY), (1, COLONY)]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "listed", "expected"), PAIRS.values(), ids=list(PAIRS))
def test_the_pairs_of_published_statements(
    statements: list[Any], listed: dict[str, str], expected: list[tuple[int, str]]
) -> None:
    found = read(statements, listed)
    assert [(c.number, c.raw_url) for c in found.citations] == expected
    assert all(c.kind == "published" and c.url == normalise_url(c.raw_url) for c in found.citations)
    assert found.n_no_address == ("Liner notes" in str(statements))


def test_facts_and_statements_become_numbered_claims() -> None:
    found = read([{"fact": "A"}, {"statement": "B", "ref_idx": None}])
    assert [(c.number, c.text, c.source) for c in found.claims] == [
        (0, "A", "published"),
        (1, "B", "published"),
    ]


def test_a_url_the_report_never_wrote_makes_no_pair_and_is_counted() -> None:
    found = read([fact([COLONY, MISSPELLED], ref_idx="1")], {"1": COLONY})
    assert [c.raw_url for c in found.citations] == [COLONY]
    assert found.n_foreign == 1
    assert found.claims[0].unwritten_urls == normalise_url(MISSPELLED)
    assert read([fact([COLONY, QUEEN])]).n_foreign == 0


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
