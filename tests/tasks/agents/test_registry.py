"""Every line of the registry names a kind that is called so."""

from typing import get_args

import pytest

from tasks.agents.registry import KINDS, find_kind


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_the_name_by_which_it_is_registered(name: str) -> None:
    settings = find_kind(name).settings
    assert get_args(settings.model_fields["kind"].annotation) == (name,)
