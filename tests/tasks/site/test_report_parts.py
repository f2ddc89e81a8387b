"""Claims and facts of a report over pages: each on one, in order, none too large."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.site.report_parts import ReportParts, split_report
from tasks.warehouse.explanations import (
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ExplainedVerdict,
)


def decision(n_chars: int) -> ExplainedVerdict:
    return ExplainedVerdict("j", "wiki_fact", "coverage", "i", "ok", "consistent", None, "",
                            "e" * n_chars, "m", "sha", 1, "call", 1, None)  # fmt: skip


def report(claims: list[int], facts: list[int], text: str = "") -> ExplainedReport:
    """With claims and facts whose evidence is as long as the numbers say."""
    return ExplainedReport(
        id="r", edition="e", agent="a", agent_name="A", assignment="x", article=None, title="X",
        url=None, kind="write_article", prompt=None, query=None, status="ok", text=text,
        text_sha="", source_path="", usd=None, seconds=None, model_version=None,
        claims=tuple(
            ExplainedClaim(n, "c", None, None, "judge", (), {}, (decision(size),), None, ())
            for n, size in enumerate(claims)
        ),
        pairs_reliable=True, pairs_reason=None,
        facts=tuple(ExplainedFact(n, "f", None, None, (decision(size),))
                    for n, size in enumerate(facts)),
        others=(), scores=(),
    )  # fmt: skip


def test_what_is_short_stands_with_the_text_and_facts_on_one_page() -> None:
    parts = split_report(report([10, 10], [10, 10]))
    assert parts == ReportParts("r", (), (0,))
    assert (parts.claim_href(1), parts.fact_href(1)) == ("r.html#claim-1", "r-facts.html#fact-1")


def test_a_long_text_leaves_no_room_for_its_claims() -> None:
    parts = split_report(report([10], [], "word " * 200), most=1_000)
    assert (parts.claims, parts.facts) == ((0,), ())
    assert parts.claim_href(0) == "r-claims.html#claim-0"


def test_further_pages_are_numbered() -> None:
    parts = split_report(report([900, 900, 900], [900, 900]), most=1_600)
    assert [parts.claim_href(n) for n in range(3)] == [
        "r-claims.html#claim-0", "r-claims-2.html#claim-1", "r-claims-3.html#claim-2",
    ]  # fmt: skip
    assert parts.fact_href(1) == "r-facts-2.html#fact-1"


sizes = st.lists(st.integers(0, 3_000), max_size=30)


@given(sizes, sizes, st.integers(1_000, 9_000))
def test_pages_are_in_order_and_only_a_single_item_is_longer_than_a_page(
    claims: list[int], facts: list[int], most: int
) -> None:
    parts = split_report(report(claims, facts), most)
    for starts, held in ((parts.claims, claims), (parts.facts, facts)):
        assert list(starts) == sorted(set(starts))
        ends = (*starts[1:], len(held))
        for first, end in zip(starts, ends[: len(starts)], strict=True):
            assert end - first == 1 or sum(held[first:end]) <= most
    assert parts.facts[:1] == ((0,) if facts else ())
