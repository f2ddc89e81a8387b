"""Only what a document bears out stays of the key points that were made of it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.extraction.key_points import attach_spans, keep_supported_points, wrap_unmerged
from tasks.judges.questions.extract_key_points import FoundKeyPoint
from tasks.judges.questions.merge_key_points import MergedKeyPoint

DOCUMENT = "The tower opened in 1889.\nIt is  red, and it stands by the sea."
OPENED = FoundKeyPoint(text="It opened in 1889.", spans=("The tower opened in 1889.",))
RED = FoundKeyPoint(text="It is red.", spans=("It is red", "it is blue", "IT IS RED, and"))
MADE_UP = FoundKeyPoint(text="It fell.", spans=("The tower fell.",))
BARE = FoundKeyPoint(text="It stands.")


def test_spans_that_do_not_stand_in_the_document_are_dropped_and_counted() -> None:
    found = keep_supported_points([OPENED, RED, MADE_UP, BARE], DOCUMENT)
    assert (found.n_spans, found.n_verbatim) == (5, 3)
    assert [point.text for point in found.points] == ["It opened in 1889.", "It is red."]
    assert found.points[1].spans == ("It is red", "IT IS RED, and")


def test_a_document_without_points_bears_none_out() -> None:
    assert keep_supported_points([], DOCUMENT) == keep_supported_points([], "")
    assert keep_supported_points([OPENED], "").points == ()


def test_a_merged_point_keeps_the_spans_of_all_it_was_merged_from() -> None:
    points = [OPENED, RED, OPENED]
    both = MergedKeyPoint(text="Both.", merged_from=(1, 3))
    made = attach_spans([both, MergedKeyPoint(text="Red.", merged_from=(2,))], points)
    assert [(point.text, point.merged_from, point.spans) for point in made] == [
        ("Both.", (1, 3), OPENED.spans), ("Red.", (2,), RED.spans),
    ]  # fmt: skip


def test_points_that_need_no_merging_keep_their_order_and_number() -> None:
    assert [(point.text, point.merged_from) for point in wrap_unmerged([RED, OPENED])] == [
        ("It is red.", (1,)), ("It opened in 1889.", (2,)),
    ]  # fmt: skip


SPANS = st.lists(st.one_of(st.text(max_size=8), st.sampled_from(DOCUMENT.split())), max_size=4)


@settings(max_examples=50, deadline=None)
@given(st.lists(SPANS, max_size=5))
def test_every_span_that_stays_can_be_found_in_the_document(spans: list[list[str]]) -> None:
    found = keep_supported_points(
        [FoundKeyPoint(text="A point.", spans=tuple(s)) for s in spans], DOCUMENT
    )
    assert 0 <= found.n_verbatim <= found.n_spans == sum(map(len, spans))
    plain = " ".join(DOCUMENT.split()).casefold()
    for point in found.points:
        assert point.spans
        for span in point.spans:
            assert " ".join(span.split()).casefold().strip(" .…\"'“”") in plain
