"""`configs/sandbox.yaml`: how archived pages are indexed, searched and served."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged

Ranking = Literal["bm25", "dense", "fused"]


class ResultCounts(ConfigModel):
    """The number of pages in a search result."""

    usual: PositiveInt = 10
    most: PositiveInt = 100

    @model_validator(mode="after")
    def _ordered(self) -> "ResultCounts":
        if self.usual > self.most:
            raise ValueError(f"expected usual ≤ most; found {self.usual} and {self.most}")
        return self


class SandboxSettings(ConfigModel):
    ranking: Ranking = "bm25"
    """`dense` and `fused` need a vector for each passage."""
    passage_words: Annotated[int, Field(ge=20, le=1000)] = 200
    """The approximate number of words in a passage."""
    depth: PositiveInt = 5
    """Passages that each ranking returns per requested page."""
    most_depth: PositiveInt = 10_000
    """The most passages in a ranking; which of more equally good ones it has is undefined."""
    approximate_from: PositiveInt = 200_000
    """With this many passages the vectors get an approximate index."""
    results: ResultCounts = ResultCounts()
    most_query_characters: PositiveInt = 2000
    per_minute: PositiveInt = 600
    """Requests per key, or per client address if no key is required."""
    undated: Literal["leave_out", "keep"] = "leave_out"
    """What to do with pages of unknown date when serving as of a date."""


def load_sandbox(configs: ConfigSource = CONFIGS) -> SandboxSettings:
    return load_merged("sandbox.yaml", SandboxSettings, configs)
