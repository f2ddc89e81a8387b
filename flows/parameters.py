"""Parameters that several flows have: their bounds stand in the forms of the Prefect UI."""

from typing import Annotated

from pydantic import Field

MOST_HOURS = 24 * 365
Usd = Annotated[float, Field(ge=0)]
"""What a run may spend."""
Hours = Annotated[float, Field(gt=0, le=MOST_HOURS)]
"""How long a run waits."""
Count = Annotated[int, Field(ge=1)]
"""How many of something; all of them are None."""
