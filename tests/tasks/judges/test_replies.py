"""Answers are read once and strictly; the schema that is sent says the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judges.questions.compare_articles import CriterionVerdict
from tasks.judges.questions.registry import QUESTIONS, list_forms
from tasks.judges.questions.score_pair import PairScore
from tasks.judges.questions.verify_against_page import PageVerdict
from tasks.judges.questions.verify_claims import ClaimVerdict
from tasks.judges.replies import (
    ItemResults,
    ReplyModel,
    order_results,
    parse_reply,
    render_item_schema,
    render_schema,
)
from tasks.models.gateway import InvalidReply

NESTED = ("inversion", "drafting")
"""Steps whose answers are no lists of one object each."""
ALL_FORMS = list(dict.fromkeys(form for folder in QUESTIONS for form in list_forms(folder)))
TESTED_FORMS = list(
    dict.fromkeys(
        form for folder in QUESTIONS if folder not in NESTED for form in list_forms(folder)
    )
)
ClaimVerdicts, PairScores = ItemResults[ClaimVerdict], ItemResults[PairScore]
GOOD = {"item": 1, "reason": "So it says.", "evidence": [1], "verdict": "consistent"}


def claim_verdicts(**changed: Any) -> str:
    return json.dumps({"results": [GOOD | changed]})


def without(name: str) -> str:
    return json.dumps({"results": [{k: v for k, v in GOOD.items() if k != name}]})


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        (claim_verdicts(verdict="perhaps"), "results.0.verdict"),
        (claim_verdicts(verdict="Consistent"), "results.0.verdict"),
        (claim_verdicts(verdict=None), "results.0.verdict"),
        (claim_verdicts(verdict=["consistent"]), "results.0.verdict"),
        (claim_verdicts(item="one"), "results.0.item"),
        (claim_verdicts(item=1.5), "results.0.item"),
        (claim_verdicts(evidence="[1]"), "results.0.evidence"),
        (claim_verdicts(reason=3), "results.0.reason"),
        (without("verdict"), "results.0.verdict"),
        (without("evidence"), "results.0.evidence"),
        (json.dumps({"result": [GOOD]}), "results"),
        (json.dumps([GOOD]), "the answer"),
        ("null", "the answer"),
        ("", "the answer"),
        ("I would say: consistent.", "the answer"),
        (claim_verdicts()[:-2], "the answer"),
        (f"{claim_verdicts()}{claim_verdicts()}", "the answer"),
        (f"<think>half a thought {claim_verdicts()}", "the answer"),
    ],
)
def test_what_is_not_of_the_form_is_refused_with_the_place(answer: str, where: str) -> None:
    with pytest.raises(InvalidReply) as caught:
        parse_reply(ClaimVerdicts, answer)
    assert str(caught.value).startswith(f"{where}: ")
    assert len(str(caught.value)) <= 200


SCORES = st.builds(PairScore, score_1=st.floats(0, 10), score_2=st.floats(0, 10))
"""JSON has no infinite numbers, which a type alone would bring."""


def filled(form: type[ReplyModel]) -> st.SearchStrategy[ReplyModel]:
    return st.builds(form, results=st.lists(SCORES)) if form is PairScores else st.from_type(form)


@given(st.sampled_from(TESTED_FORMS).flatmap(filled), st.booleans(), st.booleans())
def test_what_a_form_writes_it_reads(form: ReplyModel, fenced: bool, thought: bool) -> None:
    text = form.model_dump_json()
    if fenced:
        text = f"```json\n{text}\n```"
    if thought:
        text = f"<think>Hm.</think>\n{text}"
    assert parse_reply(type(form), text) == form


class Numbered(ReplyModel):
    n: int


def numbered(*numbers: int) -> list[Numbered]:
    return [Numbered(n=number) for number in numbers]


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ((1, 2), r"^n missing: 3 \(asked for 3\)$"),
        ((1, 2, 3, 3), "twice: 3"),
        ((1, 2, 3, 4), "never asked for: 4"),
        ((1, 1, 9), "missing: 2, 3; twice: 1; never asked for: 9"),
        ((), "missing: 1, 2, 3"),
    ],
)
def test_an_item_missing_twice_or_never_asked_for_spoils_the_answer(
    numbers: tuple[int, ...], says: str
) -> None:
    with pytest.raises(InvalidReply, match=says):
        order_results(numbered(*numbers), "n", range(1, 4))


@given(st.permutations(range(8)), st.integers(0, 8))
def test_only_a_whole_set_is_an_answer(order: list[int], kept: int) -> None:
    if kept == 8:
        assert [r.n for r in order_results(numbered(*order), "n", range(8))] == list(range(8))
    else:
        with pytest.raises(InvalidReply, match="missing"):
            order_results(numbered(*order[:kept]), "n", range(8))


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every object schema inside a schema."""
    if isinstance(schema, list):
        return [found for part in schema for found in objects(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" else []
    return [*own, *(found for part in schema.values() for found in objects(part))]


@pytest.mark.parametrize("form", ALL_FORMS)
def test_a_schema_is_strict_in_openai_s_sense(form: type[ReplyModel]) -> None:
    schema = json.loads(render_schema(form))
    found = objects(schema)
    assert found
    assert len(found) == 2 or form not in TESTED_FORMS
    for part in found:
        assert part["additionalProperties"] is False
        assert sorted(part["required"]) == sorted(part["properties"])
    assert "title" not in render_schema(form)
    assert "default" not in render_schema(form)


@pytest.mark.parametrize("form", TESTED_FORMS)
def test_a_schema_asks_for_the_reason_before_the_verdict(form: type[ReplyModel]) -> None:
    # Models write the keys in the schema's order, and its keys are sorted.
    _, item = sorted(objects(json.loads(render_schema(form))), key=lambda part: "results" not in
                     part["properties"])  # fmt: skip
    names = list(item["properties"])
    for word in {"verdict", "winner", "truth", "score", "score_1", "score_2"} & set(names):
        assert names.index("reason") < names.index(word)


@pytest.mark.parametrize(
    ("form", "key", "expected"),
    [(ItemResults[ClaimVerdict], "item", (1,)), (ItemResults[PageVerdict], "statement", (1, 2)),
     (ItemResults[CriterionVerdict], "criterion", ("ww_1", "ww_2"))],
)  # fmt: skip
def test_a_schema_can_name_its_items(
    form: type[ReplyModel], key: str, expected: tuple[object, ...]
) -> None:
    schema = json.loads(render_item_schema(form, key, expected))
    results = schema["properties"]["results"]
    assert results["minItems"] == results["maxItems"] == len(expected)
    assert results["items"]["properties"][key]["enum"] == list(expected)
    before = json.loads(render_schema(form))
    assert "minItems" not in before["properties"]["results"]  # the shared one is left as it is
