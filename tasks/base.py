"""The base of every value that is passed around."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that nobody changes and that has no fields but those it names."""

    model_config = ConfigDict(frozen=True, extra="forbid")
