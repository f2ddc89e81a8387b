"""The base class of immutable values."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
