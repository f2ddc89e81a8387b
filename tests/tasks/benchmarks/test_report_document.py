"""Taking a report's JSON apart, whatever is in it."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.benchmarks.document import get_wiki_page, parse_document, parse_statement_texts, to_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
field_names = st.sampled_from(
    ["query", "pages", "statements", "citation_urls", "citation_contents", "fact", "url", "ref_idx"]
)
report_like = st.recursive(
    json_values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(field_names, inner, max_size=4),
    max_leaves=30,
)


@given(report_like)
def test_no_json_value_makes_the_reader_raise(value: object) -> None:
    parse_document(value)
    parse_statement_texts(value)
    get_wiki_page(value)


@given(st.text(st.characters(), max_size=50))
def test_every_text_can_be_stored_as_utf8(text: str) -> None:
    assert to_text(text).encode("utf-8").decode("utf-8") == to_text(text)


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert to_text("a\ud800b") == "a\ufffdb"


def test_pages_are_found_in_a_dict_and_in_a_list() -> None:
    page = {"pageid": 7}
    assert get_wiki_page({"query": {"pages": {"7": page}}}) == page
    assert get_wiki_page({"query": {"pages": [page]}}) == page


def test_statements_without_a_text_are_counted_not_kept() -> None:
    read = parse_document({"statements": [{"fact": " "}, 7, {"ref_idx": "1"}, {"fact": "A"}]})
    assert read is not None
    assert read.statements is not None
    assert [s.text for s in read.statements] == ["A"]
    assert read.n_unusable == 3


def test_a_document_without_statements_tells_so_and_an_unrelated_one_is_none() -> None:
    read = parse_document({"query": {"pages": {"7": {"citation_contents": {}}}}})
    assert read is not None
    assert read.statements is None
    assert parse_document({"query": {"pages": {"7": {"title": "x"}}}}) is None
    assert parse_document([]) is None
