"""What judges quote is found however they copy it, and nothing else is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.judges.text import is_quoted_in

REPORT = """# Land finance

In 2021, **national land sales** reached 5.6 trillion yuan [3], i.e. 28.9% of revenue.[4]
The "crowding-out" effect
is well known ([Wu 2022](https://x.org/a(b))).

| Year | Value |
| 2021 | 5,600 |

2021年全国土地
出让收入达到5.6万
亿元人民币(https://doi.org/10.1/x)。保障性住房供应不足，社会阶层固化[1]。
"""


@pytest.mark.parametrize(
    "evidence",
    [
        "In 2021, **national land sales** reached 5.6 trillion yuan [3], i.e. 28.9% of revenue.[4]",
        '"in 2021, national land sales reached 5.6 trillion yuan, i.e. 28.9% of revenue."',
        "The “crowding-out” effect is well known (Wu 2022).",
        "effect is well known ([Wu 2022](https://x.org/a(b))).",
        "In 2021, national land sales reached 5.6 trillion yuan [...] is well known",
        "- The 'crowding-out' effect is well known\n- 社会阶层固化。",
        "| 2021 | 5,600 |",
        "2021年全国土地出让收入达到5.6万亿元人民币。",
        "2021年全国土地出让收入达到5.6万亿元人民币(https://doi.org/10.1/x)。保障性住房供应不足",
        "社会阶层固化。 2021年全国土地出让收入达到５.６万亿元人民币",
    ],
)
def test_what_stands_there_is_found_however_it_was_copied(evidence: str) -> None:
    assert is_quoted_in(evidence, REPORT)


@pytest.mark.parametrize(
    "evidence",
    [
        "",
        " … ",
        "National land sales reached 56 trillion yuan",
        "National land sales reached 5.6 billion yuan",
        "In 2021, national land sales reached 5.6 trillion yuan. They fell afterwards.",
        "2021年全国土地出让收入达到8.7万亿元人民币。",
        "| 2021 | 5.600 |",
    ],
)
def test_other_words_or_another_number_are_not(evidence: str) -> None:
    assert not is_quoted_in(evidence, REPORT)


TEXTS = st.text(alphabet="ab1５é中文.,!?。…；|*_ \n“'", max_size=60)


@settings(deadline=None, max_examples=50)
@given(TEXTS, TEXTS, TEXTS)
def test_every_text_stands_in_itself_whatever_is_around_it(
    before: str, said: str, after: str
) -> None:
    text = f"{before}\n{said}\n{after}"
    assert is_quoted_in(said, text) or not any(char.isalnum() for char in said)
    assert not is_quoted_in(f"{said} zzqqx", text)
