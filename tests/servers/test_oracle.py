"""The oracle answers each of our prompts.

That the obedient model obeys only what is not fenced is in tests/tasks/judges/test_injection.py.
"""

import json

from tasks.judges.forms.parsing import parse_reply
from tasks.judges.forms.steps import ReplyClaims
from tasks.judges.forms.verdicts import (
    ClaimVerdicts,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    PageVerdicts,
)
from tasks.judges.text import occurs_in
from tasks.models.exchange import ModelRequest, parse_schema
from tests.servers.oracle import Oracle
from tests.servers.prompts_for_tests import (
    claims,
    compare,
    facts,
    verify_against_page,
    verify_claims,
)

PAGE = "# Tower\nIn 1889 the tower opened to visitors. It is 3.5 km from the river.\nNo more."
REPORT = """# The tower
The tower opened in 1889. It is tall.[1][2] It stands by a river [3].
- A list has entries 【4】
Nobody knows why, see [the site](https://example.org/a).
It ends.

## References
[1] https://example.org/1
"""


def answer(request: ModelRequest) -> str:
    return Oracle().answer(
        request.system, request.messages[0].text, parse_schema(request.reply_schema)
    )


def test_statements_are_judged_by_their_words_and_numbers() -> None:
    found = parse_reply(ClaimVerdicts, answer(verify_claims())).results
    assert [(f.item, f.verdict, f.evidence) for f in found] == [
        (1, "consistent", [1]),
        (2, "inconsistent", [1]),
        (3, "not_support", []),
    ]


def test_a_page_s_passage_stands_on_it_word_for_word() -> None:
    said = ("The tower opened in 1889.", "The tower opened in 1900.", "Painters earn little.")
    found = parse_reply(PageVerdicts, answer(verify_against_page(PAGE, *said))).results
    assert [f.verdict for f in found] == ["support", "conflict", "not_support"]
    assert all(occurs_in(f.passage, PAGE) for f in found[:2])
    assert found[2].passage == ""


def winners(request: ModelRequest) -> list[str]:
    return [r.winner for r in parse_reply(CriterionVerdictsOrTies, answer(request)).results]


def test_the_same_article_wins_in_either_order() -> None:
    swapped = {"article_1": "article_2", "article_2": "article_1"}
    forth = winners(compare("One text.", "Another text.", n=20))
    back = winners(compare("Another text.", "One text.", n=20))
    assert back == [swapped[winner] for winner in forth]
    assert set(forth) == {"article_1", "article_2"}


def test_equal_texts_tie_where_a_tie_is_allowed() -> None:
    assert set(winners(compare("Same.", "Same.", allow_tie=True))) == {"tie"}
    parse_reply(CriterionVerdicts, answer(compare("Same.", "Same.")))


def test_claims_carry_the_markers_that_follow_them() -> None:
    found = parse_reply(ReplyClaims, answer(claims(REPORT))).claims
    assert [(c.statement, c.markers) for c in found] == [
        ("The tower opened in 1889.", ["[1]", "[2]"]),
        ("It is tall.", ["[1]", "[2]"]),
        ("It stands by a river.", ["[3]"]),
        ("A list has entries", ["【4】"]),
        ("Nobody knows why, see.", ["[the site](https://example.org/a)"]),
        ("It ends.", []),
    ]


def test_facts_are_sentences() -> None:
    found = json.loads(answer(facts("# Head\nIt is 3.5 m high. It is old.\n")))
    assert found == {"facts": [{"statement": "It is 3.5 m high."}, {"statement": "It is old."}]}


def test_a_prompt_that_is_none_of_ours_gets_the_least_its_schema_allows() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "of": {"$ref": "#/$defs/Word"}},
        "$defs": {"Word": {"enum": ["a", "b"]}},
    }
    assert json.loads(Oracle().answer("", "Hello", schema)) == {"n": 0, "of": "a"}
