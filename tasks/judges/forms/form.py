"""What the forms of all models' answers have in common."""

from pydantic import BaseModel, ConfigDict


class ReplyModel(BaseModel):
    """A part of an answer. Extra keys are read past, but the schema does not allow them."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )
