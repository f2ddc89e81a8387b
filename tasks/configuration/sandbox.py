"""`configs/sandbox.yaml`: how archived pages are indexed, found and served."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from tasks.configuration.loading import CONFIGS, Configured, load

Ranking = Literal["bm25", "dense", "fused"]


class Results(Configured):
    """How many pages a search gives."""

    usual: PositiveInt = 10
    most: PositiveInt = 100

    @model_validator(mode="after")
    def _ordered(self) -> "Results":
        if self.usual > self.most:
            raise ValueError(f"expected usual ≤ most; found {self.usual} and {self.most}")
        return self


class SandboxSettings(Configured):
    ranking: Ranking = "bm25"
    """`dense` and `fused` need a vector for each passage."""
    passage_words: Annotated[int, Field(ge=20, le=1000)] = 200
    """About so many words of a page are found together."""
    depth: PositiveInt = 5
    """Passages that a ranking gives for each page that is asked for."""
    most_depth: PositiveInt = 10_000
    """Passages of one ranking at most: where more are equally good, which of them count is open."""
    approximate_from: PositiveInt = 200_000
    """Passages from which on their vectors get an index that finds most of the nearest."""
    results: Results = Results()
    most_query_characters: PositiveInt = 2000
    per_minute: PositiveInt = 600
    """Requests of one key, or of one address where no key is asked for."""
    undated: Literal["leave_out", "keep"] = "leave_out"
    """Pages of which nobody knows when they were published or fetched, served as of a date."""


def load_sandbox(configs: Path = CONFIGS) -> SandboxSettings:
    return load(configs / "sandbox.yaml", SandboxSettings)
