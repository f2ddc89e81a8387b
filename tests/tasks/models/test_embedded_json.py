"""One JSON object is found whatever a model puts around it; where it is in doubt, none is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.answers import AnswerParseError, parse_answer
from tasks.models.embedded_json import find_only_object, split_reasoning

GOOD = '{"claims": [{"value": "It quotes </think>, <think> and [1]."}]}'
DRAFT = '{"claims": [{"value": "a draft"}]}'

AROUND = {
    "nothing": "%s",
    "a byte-order mark": "\ufeff%s",
    "words before": "Here is my evaluation:\n\n```json\n%s\n```",
    "words after": "%s\n\nLet me know if you need more.",
    "a fence in capitals": "```JSON\n%s\n```",
    "a fence without lines": "```json%s```",
    "a fence of tildes": "~~~\n%s\n~~~",
    "a citation": "As [3] and [1, 2] say: %s",
    "a form in words": 'By the form {"claims": [...]} I answer: %s',
    "braces that are no JSON": "The set {1, 2} is {small}. %s",
    "a tag for the answer": "<answer>%s</answer>",
    "thoughts": f"<think>{DRAFT}</think>\n%s",
    "thoughts with another name": f"<thinking>{DRAFT}</thinking>%s",
    "thoughts in capitals": f"<THINK>{DRAFT}</THINK>%s",
    "words and two blocks of thoughts": f"So.<think>a</think>b<reasoning>{DRAFT}</reasoning>%s",
    "thoughts that were opened elsewhere": f"They ask for JSON. {DRAFT}\n</think>\n\n%s",
    "thoughts that quote their end": f"<think>{DRAFT}</think> I mean {DRAFT}</think>%s",
    "Seed's thoughts": f"<seed:think>{DRAFT}</seed:think>%s",
    "Mistral's thoughts": f"[THINK]{DRAFT}[/THINK]%s",
    "Kimi's thoughts": f"◁think▷{DRAFT}◁/think▷%s",
    "Cohere's thoughts": f"<|START_THINKING|>{DRAFT}<|END_THINKING|>%s",
    "channels": f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final"
    "<|message|>%s<|return|>",
    "channels with a constraint": "<|channel|>analysis<|message|>a<|end|><|start|>assistant"
    "<|channel|>final <|constrain|>json<|message|>%s",
    "channels without their marks": f"analysisWe need {DRAFT}.assistantfinal%s",
    "Gemma's channel": f"<|channel>thought\n{DRAFT}<channel|>%s",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND.keys())
def test_the_only_object_of_a_judge_is_found(around: str) -> None:
    assert find_only_object(around.replace("%s", GOOD)) == GOOD


@pytest.mark.parametrize("name", sorted(AROUND.keys() - {"a form in words"}))
def test_an_agents_answer_is_found_by_the_same_rules(name: str) -> None:
    [claim] = parse_answer(AROUND[name].replace("%s", GOOD)).claims or ()
    assert claim.value == "It quotes </think>, <think> and [1]."


@pytest.mark.parametrize(
    "text", [f"<think>{GOOD}", f"{GOOD}<think>so", f"<|channel|>analysis<|message|>{GOOD}"]
)
def test_reasoning_without_an_end_leaves_no_answer(text: str) -> None:
    with pytest.raises(ValueError, match="its reasoning is not closed"):
        find_only_object(text)
    with pytest.raises(AnswerParseError, match="its reasoning is not closed"):
        parse_answer(text)


@pytest.mark.parametrize(
    "text", [GOOD + GOOD, f"{GOOD} or {DRAFT}", f"```json\n{GOOD}\n```\n{GOOD}", f"[{GOOD}] {GOOD}"]
)
def test_two_objects_of_a_judge_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="expected one JSON object, found 2"):
        find_only_object(text)


@pytest.mark.parametrize(
    "text",
    ["", "I would say: yes.", "[3]", f"[{GOOD}]", GOOD[:-1], f'{{"all": [\n{GOOD}\n', "null"],
)
def test_a_part_of_something_else_is_no_object(text: str) -> None:
    assert find_only_object(text) == text


@given(
    st.dictionaries(st.text(), st.text() | st.lists(st.integers())),
    st.sampled_from([*AROUND.values()]),
)
def test_whatever_an_object_holds_it_is_found_whole(content: object, around: str) -> None:
    source = json.dumps(content)
    assert find_only_object(around.replace("%s", source)) == source


@given(st.lists(st.sampled_from(["{", "[", '"', "<think>", "</think>", '{"a":', "}", "]", "1,"])))
def test_what_is_found_stands_in_the_answer_as_it_is(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        found = find_only_object(text)
        json.loads(found)
    except ValueError:
        return
    assert found in text


@pytest.mark.parametrize(
    ("text", "reasoning", "rest"),
    [
        ("I write it.\n</think>\n\n## History", "I write it.", "## History"),
        ("I write it.</think>\n## History", "I write it.", "## History"),
        ("[THINK]so[/THINK]## History", "so", "## History"),
        ("The tag `</think>` ends it.", "", "The tag `</think>` ends it."),
        ("a\n<think>b\n</think>\nc", "", "a\n<think>b\n</think>\nc"),
        ("## History", "", "## History"),
    ],
)
def test_the_reasoning_before_a_report_is_split_off(text: str, reasoning: str, rest: str) -> None:
    assert split_reasoning(text) == (reasoning, rest)
