"""The base class of all reply forms."""

from pydantic import BaseModel, ConfigDict


class ReplyModel(BaseModel):
    """A part of a reply. Extra keys are ignored, but the schema does not allow them."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )
