"""A judge's fallback is another judge that calls a model and has none itself."""

from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.models import find_fallback, load_judges
from tests.changed_configs import copy_configs

JUDGE, OTHER = "gemini-3.8-flash", "gpt-5.5"


def with_fallbacks(folder: Path, **fallbacks: str) -> Path:
    def edit(settings: dict[str, Any]) -> None:
        for name, fallback in fallbacks.items():
            settings["judges"][name]["fallback"] = fallback

    return copy_configs(folder, judges=edit)


def test_a_judge_may_name_another(tmp_path: Path) -> None:
    known = load_judges(with_fallbacks(tmp_path, **{JUDGE: OTHER})).judges
    assert known[JUDGE].fallback == OTHER  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fallbacks", "said"),
    [
        ({JUDGE: "nobody"}, "there is no 'nobody'"),
        ({JUDGE: JUDGE}, f"{JUDGE} is the judge itself, which has refused"),
        ({JUDGE: "offline"}, "offline calls no model"),
        ({JUDGE: OTHER, OTHER: "gemini-3.1-pro"}, f"{OTHER} has a fallback of its own"),
    ],
)
def test_another_fallback_is_refused(tmp_path: Path, fallbacks: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_judges(with_fallbacks(tmp_path, **fallbacks))
    assert f"judges.yaml: `judges.{JUDGE}.fallback`: {said}" in str(refused.value)


def test_the_judges_of_this_project_have_none() -> None:
    assert not any(map(find_fallback, [*load_judges().judges, "no longer configured"]))
