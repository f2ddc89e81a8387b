"""Names that differ only in case or in a gateway's prefix are those of one model."""

import pytest

from tasks.models.exchange import same_model


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("gpt-5", "openai/gpt-5"),
        ("GPT-5", "gpt-5"),
        ("models/gemini-3-pro", "gateway/google/Gemini-3-Pro"),
        ("gpt-5 ", "gpt-5/"),
        (None, None),
    ],
)
def test_one_model(first: str | None, second: str | None) -> None:
    assert same_model(first, second)
    assert same_model(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("gpt-5", "gpt-5-2026-10-01"),
        ("gpt-5", "gpt-5:free"),
        ("openai/gpt-5", "openai"),
        ("openai-gpt-5", "gpt-5"),
        ("/", ""),
        ("gpt-5", None),
    ],
)
def test_two_models(first: str | None, second: str | None) -> None:
    assert not same_model(first, second)
    assert not same_model(second, first)
