"""Agents' answers in every form they come in, and those that cannot be read."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.extraction.answers import (
    MAX_ANSWER_CHARS,
    MAX_DEPTH,
    MAX_VALUE_CHARS,
    MAX_VALUES,
    AgentAnswer,
    AnsweredClaim,
    AnswerParseError,
    parse_answer,
)

CLAIM = AnsweredClaim(value="A", sub_claims=(AnsweredClaim(name="year", value="1889"),),
                      sources=("https://example.org/a",))  # fmt: skip
NESTED = {"claims": [{"value": "A", "sub_claims": [{"name": "year", "value": 1889}],
                      "sources": ["https://example.org/a"]}]}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NESTED, AgentAnswer(claims=(CLAIM,))),
        (NESTED["claims"], AgentAnswer(claims=(CLAIM,))),
        ({"claims": [{"value": "A", "sub_claims": {"year": 1889}}]},
         AgentAnswer(claims=(CLAIM.model_copy(update={"sources": ()}),))),
        ({"claims": []}, AgentAnswer(claims=())),
        ({"claims": ["A", "B"]}, AgentAnswer(groups=(["A", "B"],))),
        (["A", "B"], AgentAnswer(groups=(["A", "B"],))),
        ([], AgentAnswer(groups=([],))),
        ({"key": "k", "preds": [[{"title": "A"}], {"b": 2}]},
         AgentAnswer(groups=([{"title": "A"}], {"b": 2}))),
        ([{"key": "k", "preds": [["A"]]}], AgentAnswer(groups=(["A"],))),
        ([[{"title": "A"}]], AgentAnswer(groups=([{"title": "A"}],))),
        ([{"title": "A"}, {"title": "B"}], AgentAnswer(groups=([{"title": "A"}, {"title": "B"}],))),
        ({"airline": "X", "year": 1999}, AgentAnswer(groups=({"airline": "X", "year": 1999},))),
    ],
)  # fmt: skip
def test_every_known_form_is_read_alone_fenced_and_amid_prose(
    value: Any, expected: AgentAnswer
) -> None:
    text = json.dumps(value)
    assert parse_answer(text) == expected
    assert (
        parse_answer(f"I searched [1] and found:\n\n```json\n{text}\n```\nThat is all.") == expected
    )
    assert parse_answer(f"\ufeff\n```\r\n{text}\r\n```".replace("\ufeff", "")) == expected
    if value:
        assert parse_answer(f"As shown in [3], {text} is the answer [4].") == expected


BLOCKS = "\nthen\n".join(
    f"```json\n{block}\n```" for block in ('["draft"]', '["final"]', "3", "x = 1")
)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        (BLOCKS, ["final"]),
        ('```json\n["fenced"]\n```\nnot {"b": "bare"}', ["fenced"]),
        ('Here:\n```json\n["A"]\n', ["A"]),
        ('{"claims": [{"value": "A"\n\nAgain:\n["B"]', ["B"]),
        ('["\\ud800x"]', ["\ufffdx"]),
    ],
    ids=["the last of a known form", "a fenced block before prose", "a fence never closed",
         "a whole one after a broken one", "half a surrogate"],
)  # fmt: skip
def test_the_answer_is_found_among_what_else_is_said(text: str, group: list[str]) -> None:
    assert parse_answer(text).groups == (group,)


def test_commas_before_closing_brackets_are_read_past_and_those_in_texts_stay() -> None:
    found = parse_answer('{"claims": [{"value": "a,]", "sub_claims": [],}, ], }').claims
    assert found == (AnsweredClaim(value="a,]"),)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("around", ["{}", "So: {}", "```json\n{}", "[1] says\n\n{}\n"])
def test_json_that_is_cut_short_is_no_answer_and_neither_are_its_parts(
    indent: int | None, around: str
) -> None:
    whole = json.dumps({"claims": [{"value": "A"}, {"value": "B"}]}, indent=indent)
    assert parse_answer(around.format(whole)).n_claims == 2
    for cut in range(1, len(whole)):
        with pytest.raises(AnswerParseError):
            parse_answer(around.format(whole[:cut]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("I could not find it.", "no JSON could be read"),
        ("The tower opened in 1889 [3], as others say [4, 5].", "no JSON"),
        ("3", "neither a list nor an object"),
        ('"A"', "neither a list nor an object"),
        ("null", "no JSON could be read"),
        ('{"preds": [[[1]]]}', "neither an object nor a list"),
        ('{"claims": [{"value": "A", "sub_claims": 3}]}', "sub_claims"),
        ("x" * (MAX_ANSWER_CHARS + 1), "longer than"),
        ("[" * 40 + '"A"' + "]" * 40, "nested deeper"),
        (json.dumps(["A"] * (MAX_VALUES + 1)), "more than"),
        (json.dumps([{}] * (MAX_VALUES + 1)), "more than"),
        (json.dumps(["A" * (MAX_VALUE_CHARS + 1)]), "a value is longer"),
        (json.dumps({"A" * (MAX_VALUE_CHARS + 1): 1}), "a name is longer"),
        ('["A", NaN]', "no JSON could be read"),
        ("[" + "9" * 5000 + "]", "no JSON could be read"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, says: str) -> None:
    with pytest.raises(AnswerParseError, match=says):
        parse_answer(text)


HOSTILE = {
    "brackets": "[" * 900_000,
    "braces with keys": '{"a":' * 150_000,
    "fences that never close": "```json\n" * 100_000,
    "fences and brackets": "```\n[{\n" * 100_000,
    "quotes": '"' * 900_000,
    "escaped quotes": '["' + '\\"' * 400_000,
    "escaped quotes and a backslash": '["' + '\\"' * 400_000 + "\\",
    "commas": "[" + ", " * 400_000,
    "citations": "[1] " * 200_000,
    "a long list that is cut short": '["a",' * 1 + '"a",' * 200_000,
    "spaces after a comma": '["a",' + " " * 900_000,
    "unclosed texts": '["' * 300_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_answer_is_refused(text: str) -> None:
    with pytest.raises(AnswerParseError):
        parse_answer(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3)
    | st.dictionaries(
        st.sampled_from(["claims", "preds", "key", "value", "name", "sub_claims", "sources", "a"]),
        below, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None)
@given(JSON | st.text(max_size=80).map(lambda text: f"```{text}"), st.text(max_size=10))
def test_any_answer_is_read_or_refused_and_never_crashes(value: Any, around: str) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    for answer in (text, f"{around}\n```json\n{text}\n```\n{around}", f"{around} {text}"):
        try:
            found = parse_answer(answer)
        except AnswerParseError:
            continue
        assert found.n_claims >= 0
        assert found.claims is not None or found.groups is not None


CLAIMS = st.recursive(
    st.builds(AnsweredClaim, value=st.text(max_size=8), name=st.text(max_size=4)),
    lambda below: st.builds(
        AnsweredClaim,
        value=st.text(max_size=8),
        sub_claims=st.lists(below, max_size=3).map(tuple),
        sources=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    ),
    max_leaves=6,
)


@given(st.lists(CLAIMS, min_size=1, max_size=4))
def test_what_nested_claims_write_is_read_again(claims: list[AnsweredClaim]) -> None:
    depth = MAX_DEPTH
    assert depth > 8
    text = json.dumps({"claims": [claim.model_dump(mode="json") for claim in claims]})
    assert parse_answer(text).claims == tuple(claims)


def test_predictions_may_hold_nested_claims() -> None:
    claim = {"value": "Owl", "sub_claims": [{"name": "year", "value": "1901"}]}
    found = parse_answer(json.dumps({"key": "k", "preds": [{"claims": [claim]}]}))
    assert found == parse_answer(json.dumps({"claims": [claim]}))
    assert found.claims is not None
    assert found.claims[0].sub_claims[0].value == "1901"
