"""Facts of an article and the places of published ones."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.extraction.facts import extract_facts, locate_facts

ARTICLE = """# Kingston Line

The Kingston Line is a commuter rail line in Massachusetts. It opened in 1997.

## History

### Early years

The Old Colony Railroad built the line in 1845. It reached Plymouth the same year.

## See also

* A list of railway lines
"""


def test_facts_are_the_sentences_of_the_prose_with_their_place() -> None:
    found = extract_facts("Kingston Line", ARTICLE)
    assert [(f.section, f.text) for f in found] == [
        (None, "The Kingston Line is a commuter rail line in Massachusetts."),
        (None, "It opened in 1997."),
        ("History > Early years", "The Old Colony Railroad built the line in 1845."),
        ("History > Early years", "It reached Plymouth the same year."),
    ]
    assert all(ARTICLE.startswith(fact.text, fact.position) for fact in found)


def test_a_rewritten_fact_is_placed_in_the_sentence_it_was_made_from() -> None:
    facts = [
        "The Kingston Line opened in 1997.",
        "The line was built in 1845 by the Old Colony Railroad.",
        "Whales sing at night.",
    ]
    (_, lead), (section, early), nowhere = locate_facts(facts, ARTICLE)
    assert lead is not None
    assert early is not None
    assert ARTICLE[lead:].startswith(("The Kingston Line is", "It opened in 1997"))
    assert ARTICLE[early:].startswith("The Old Colony")
    assert section == "History > Early years"
    assert nowhere == (None, None)


def test_of_two_equal_sentences_the_one_in_order_is_taken() -> None:
    text = "The line closed.\n\n## A\n\nOthers opened much later.\n\n## B\n\nThe line closed."
    places = locate_facts(["Others opened much later.", "The line closed."], text)
    assert [section for section, _ in places] == ["A", "B"]


@settings(deadline=None)
@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=80))
def test_every_fact_gets_an_answer_whatever_the_text(facts: list[str], text: str) -> None:
    assert len(locate_facts(facts, text)) == len(facts)
