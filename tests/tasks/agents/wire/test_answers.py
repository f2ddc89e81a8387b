"""What the answers of several providers share: the trace of their searches."""

from tasks.agents.wire.answers import build_trace


def test_a_page_follows_from_the_first_search_that_found_it() -> None:
    trace = build_trace(
        [
            ([], ["a"], []),  # found by nobody knows which query
            (["one"], ["b"], ["a", "b"]),
            ([], ["c"], []),
            (["two", "three"], ["b", "c"], ["b", "c"]),
        ]
    )
    assert [(step.query or step.opened[0], step.parent) for step in trace] == [
        ("one", None), ("a", None), ("b", 0), ("two", None), ("three", None), ("b", 0), ("c", 4),
    ]  # fmt: skip
