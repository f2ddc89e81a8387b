"""Addresses in settings carry no credentials: they are logged, stored and shown in errors."""

import os
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from tasks.errors import ExpectedError

ADDRESSES = {
    "PREFECT_API_URL": "PREFECT_API_AUTH_STRING",
    "PREFECT_UI_URL": "PREFECT_SERVER_API_AUTH_STRING",
    "EVERGREEN_SANDBOX": "EVERGREEN_SANDBOX_KEY",
    "AWS_ENDPOINT_URL": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}
"""The variables whose addresses other programs read, too, and where their credentials belong."""
KEY = "the variable that its `key_env` names"
_ADDRESS = re.compile("EVERGREEN_.*_URL|.*_BASE_URL")


class CredentialsInAddress(ExpectedError):
    """An address in a setting has a user name or a password; the message does not repeat it."""


def refuse_credentials(address: str, setting: str, instead: str | None = KEY) -> str:
    """Return the address of a setting.

    Args:
        instead: where the credentials belong; None: nowhere, none are used.

    Raises:
        CredentialsInAddress: it has a user name or a password. An `@` anywhere counts, because a
            password may have any sign.
    """
    if "@" in address:
        move = f"Put them into {instead}, and remove" if instead else "Remove"
        raise CredentialsInAddress(
            f"{setting}: expected an address without user name and password (`@`), which would "
            f"appear in runs and logs. {move} them from the address."
        )
    return address


def check_variables(environ: Mapping[str, str] = os.environ) -> None:
    """Raise CredentialsInAddress if a variable with an address has credentials."""
    for name, value in environ.items():
        if name in ADDRESSES:
            refuse_credentials(value, name, ADDRESSES[name])
        elif _ADDRESS.fullmatch(name):
            refuse_credentials(value, name)


def _check_field(address: str, field: ValidationInfo) -> str:
    return refuse_credentials(address, f"`{field.field_name}` in the configuration")


PlainAddress = Annotated[str, AfterValidator(_check_field)]
"""An address in a configuration file."""
